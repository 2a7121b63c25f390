#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/scalar.h"

namespace stepwright {

/// Reads the size of a batch or a sequence: an integer, or a number with a suffix for a power of
/// two: `4k` is 4,096, `128K` 131,072, `4M` 4,194,304 (k: 1,024; M: 1,048,576). Do not use it for
/// numbers of training tokens, where K, M, B and T are powers of ten (`QuantityKind::kTokens`).
IntegerParseResult read_batch_or_sequence_size(std::string_view word);

/// Reads the size of a batch or a sequence, such as 4096 or `4k`, from a value of a file. Values
/// from `low` to `high` are allowed. Fails with `kInput`, naming position and allowed range.
std::int64_t read_batch_or_sequence_size(DocumentNode node, std::int64_t low, std::int64_t high);

}  // namespace stepwright
