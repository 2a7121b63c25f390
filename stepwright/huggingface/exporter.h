#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/huggingface/numbers.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// The weights that an export writes. kWeights: all weights of a fully trained model. kMerged: the
/// base model's weights with trained weights replaced and LoRA adapters added in. kAdapters: only
/// the LoRA adapters, as a directory of the peft library.
enum class ExportedWeightForm : std::uint8_t { kWeights, kMerged, kAdapters };

/// Options for writing a checkpoint's weights in Hugging Face format.
struct HuggingFaceExportOptions {
  ExportedWeightForm form = ExportedWeightForm::kWeights;
  /// For kMerged and kAdapters: Hugging Face directory of the frozen base weights, whose tensor
  /// names are used. Empty: the directory from which the training run read them.
  std::filesystem::path base = {};
  /// Number type of the written weights; nullopt: the checkpoint's.
  std::optional<WeightNumberType> type = {};
  /// Most bytes of tensors in one file; a single larger tensor gets a file of its own.
  std::int64_t shard_bytes = 5'000'000'000;
};

/// Writes a checkpoint's weights as a directory that transformers loads, or its LoRA adapters as a
/// directory that peft loads. Checks every shard's checksum first; the directory appears only when
/// complete. Fails with `kInput` for a damaged checkpoint, an existing `out`, or a form or base
/// that does not suit what was trained; with `kUnsupported` for a model that no Hugging Face model
/// type expresses; with `kRuntime` if files cannot be written.
void export_huggingface(const std::filesystem::path& checkpoint, const std::filesystem::path& out,
                        const HuggingFaceExportOptions& options);

/// Fails, as a later export would, if a model's LoRA adapters cannot be written in the peft
/// library's format for the base weights in the directory `base` (empty: unknown).
void check_lora_exportable(const model::ModelArchitecture& model,
                           const std::filesystem::path& base);

}  // namespace stepwright::huggingface
