#pragma once

#include <filesystem>
#include <map>
#include <span>

#include "stepwright/runtime/data/micro_batch.h"

namespace stepwright::runtime {

/// Writes the logits of a step as safetensors: `logits` [sequences, length, vocabulary] in F64,
/// `tokens` and `targets` [sequences, length] in I64, in the order of the micro-batches in
/// `batches`. Fails with `kRuntime` if the file cannot be written.
void write_logits(const std::map<std::int32_t, at::Tensor>& logits,
                  std::span<const MicroBatch> batches, std::int64_t length,
                  const std::filesystem::path& path);

}  // namespace stepwright::runtime
