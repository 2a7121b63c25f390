#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/huggingface/numbers.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Which weights an export writes. kWeights: all weights of a fully trained model. kMerged: the
/// base's weights with the trained ones in their place and the adapters added. kAdapters: the
/// adapters alone, as a folder of peft.
enum class ExportForm : std::uint8_t { kWeights, kMerged, kAdapters };

/// Options for writing weights as a Hugging Face directory.
struct ExportOptions {
  ExportForm form = ExportForm::kWeights;
  /// For kMerged and kAdapters: directory of the frozen weights, which decides the names of
  /// tensors. Empty: the directory from which the run read them.
  std::filesystem::path base = {};
  /// Number type in the files; nullopt: as in the checkpoint.
  std::optional<NumberType> type = {};
  /// Most bytes of numbers in one file, unless a single tensor is larger.
  std::int64_t shard_bytes = 5'000'000'000;
};

/// Writes the weights of a committed checkpoint as a directory that transformers loads
/// (config.json, and model.safetensors or several files with their index), or its adapters as a
/// directory that peft loads (adapter_config.json and adapter_model.safetensors). Verifies every
/// shard's checksum first, and renames the finished directory into place, so that it is never
/// incomplete.
/// Fails with `kInput` for a damaged checkpoint, an `out` that exists, a form that does not suit
/// what was trained, and a base of another model; with `kUnsupported` for a model that no family
/// can express (`family_of`); with `kRuntime` if files cannot be written.
void export_huggingface(const std::filesystem::path& checkpoint, const std::filesystem::path& out,
                        const ExportOptions& options);

/// Fails with the error that `export_huggingface` would give if the adapters of a model cannot be
/// written as a folder of peft for these base weights. `base` may be empty: unknown.
void check_adapter_folder(const model::Architecture& model, const std::filesystem::path& base);

}  // namespace stepwright::huggingface
