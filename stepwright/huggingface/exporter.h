#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/huggingface/numbers.h"

namespace stepwright {

/// What is written of a model with adapters: the weights beside which they stand, the same with
/// what the adapters add to them, or the adapters alone as a folder of peft.
enum class ExportForm : std::uint8_t { kWeights, kMerged, kAdapters };

/// How weights are written.
struct ExportOptions {
  ExportForm form = ExportForm::kWeights;
  std::filesystem::path base = {};  ///< Of kMerged: the directory of the weights that are frozen.
  std::optional<NumberType> type = {};       ///< Nothing: as the checkpoint holds them.
  std::int64_t shard_bytes = 5'000'000'000;  ///< Of numbers in one file, if tensors are smaller.
};

/// Writes the weights of a committed checkpoint as a directory that transformers loads:
/// config.json, and model.safetensors or several files with their index; or its adapters as one
/// that peft loads: adapter_config.json and adapter_model.safetensors. Every shard's checksum is
/// verified first; a directory that is there is complete. Fails with `kInput` for a damaged
/// checkpoint, an `out` that is there already and a form that needs adapters where there are none,
/// with `kUnsupported` for a model that no family describes (`family_of`), with `kRuntime` when
/// files cannot be written.
void export_huggingface(const std::filesystem::path& checkpoint, const std::filesystem::path& out,
                        const ExportOptions& options);

}  // namespace stepwright
