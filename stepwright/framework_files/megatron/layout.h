#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// "Ett|tt|ttL": the layers of each chunk in model order, as Megatron's pipeline layout writes
/// them; with a multi-token layer "Ett|tt|ttmL".
std::string layout_text(std::span<const std::int64_t> layers, std::int64_t multi_token);

/// The layers of each chunk of such a layout, with `*N` repetitions and groups in parentheses.
/// Fails with `kInput` on other letters, chunks without anything, and more than 65,536 parts.
std::vector<std::int64_t> read_layout(Node node);
/// Whether a layout has multi-token layers on a stage before the last.
bool parts_multi_token(Node node);

/// The layers of a model, and one each for embedding and loss where they count as one in the split.
std::int64_t counted_layers(const Fields& fields, std::int64_t layers);

/// The layers of each chunk where the first and the last may have others than the rest; empty for
/// the even split. Fails with `kInput` where the rest cannot be split.
std::vector<std::int64_t> uneven_layers(const Fields& fields, std::int64_t layers,
                                        std::int64_t chunks);

}  // namespace stepwright::framework_files
