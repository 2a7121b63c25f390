#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/huggingface/numbers.h"

namespace stepwright {

/// How weights are written.
struct ExportOptions {
  std::optional<NumberType> type = {};       ///< Nothing: as the checkpoint holds them.
  std::int64_t shard_bytes = 5'000'000'000;  ///< Of numbers in one file, if tensors are smaller.
};

/// Writes the weights of a committed checkpoint as a directory that transformers loads:
/// config.json, and model.safetensors or several files with their index. Every shard's checksum is
/// verified first; a directory that is there is complete. Fails with `kInput` for a damaged
/// checkpoint or an `out` that is there already, with `kUnsupported` for a model that no family
/// describes (`family_of`), with `kRuntime` when files cannot be written.
void export_huggingface(const std::filesystem::path& checkpoint, const std::filesystem::path& out,
                        const ExportOptions& options);

}  // namespace stepwright
