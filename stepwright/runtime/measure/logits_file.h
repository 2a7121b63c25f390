#pragma once

#include <filesystem>
#include <map>
#include <span>

#include "stepwright/runtime/data/micro_batch.h"

namespace stepwright::runtime {

/// Writes the logits of a step's micro-batches as safetensors: `logits` [sequences, length,
/// vocabulary] in F64, `tokens` and `targets` [sequences, length] in I64, sequences in the order of
/// `batches`. Fails with `kRuntime` when the file cannot be written.
void write_logits(const std::map<std::int32_t, at::Tensor>& logits,
                  std::span<const MicroBatch> batches, std::int64_t length,
                  const std::filesystem::path& path);

}  // namespace stepwright::runtime
