#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/huggingface/numbers.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Weights that are written: all weights of a model that was trained whole; those of the base with
/// what was trained of them and what adapters add; or adapters alone as a folder of peft.
enum class ExportForm : std::uint8_t { kWeights, kMerged, kAdapters };

/// How weights are written.
struct ExportOptions {
  ExportForm form = ExportForm::kWeights;
  /// For kMerged and kAdapters: directory of the frozen weights, whose names are written.
  /// Empty: where the run had them from.
  std::filesystem::path base = {};
  /// Type of the numbers; nullopt: as the checkpoint holds them.
  std::optional<NumberType> type = {};
  /// Bytes of numbers in one file, if tensors are smaller.
  std::int64_t shard_bytes = 5'000'000'000;
};

/// Writes the weights of a committed checkpoint as a directory that transformers loads:
/// config.json, and model.safetensors or several files with their index; or its adapters as one
/// that peft loads: adapter_config.json and adapter_model.safetensors. Every shard's checksum is
/// verified first; a directory that is there is complete. Fails with `kInput` for a damaged
/// checkpoint, an `out` that is there already, a form that does not suit what was trained and a
/// base of another model, with `kUnsupported` for a model that no family describes (`family_of`),
/// with `kRuntime` when files cannot be written.
void export_huggingface(const std::filesystem::path& checkpoint, const std::filesystem::path& out,
                        const ExportOptions& options);

/// Fails as `export_huggingface` will with the adapters of a model beside weights of a base, if
/// they have no place in a folder of peft. `base` may be empty.
void check_adapter_folder(const model::Architecture& model, const std::filesystem::path& base);

}  // namespace stepwright::huggingface
