#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/dtype.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/huggingface/adapter_tensors.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// LoRA adapters as a program's settings state them, before the model is known.
struct StatedLoraAdapters {
  std::int64_t rank = 0;
  double alpha = 0;
  double dropout = 0;
  DType base =
      DType::kBf16;  ///< Storage type of the frozen weights, one of `kAdapterBaseTypeNames`.
  /// Modules that get adapters: names in transformers or Megatron-Core (`q_proj`, `linear_qkv`), a
  /// regular expression for whole names, or a word for all linear layers (`all-linear`).
  std::vector<std::string> modules;
  /// True if the program trains models of transformers 5, where experts are parameters, not
  /// modules, so that `all-linear` leaves them out.
  bool of_transformers = false;
};

/// Reads LoRA adapters from a program's settings. A section of a table (`axolotl/adapters`) lists
/// the program's keys and defaults for them:
/// - `rank`, `alpha`, `dropout`, `modules`: the program's keys; absent: it has no such key; several
///   keys with blanks between them: the first one that is set counts,
/// - `usual_rank`, `usual_alpha` (a multiple of the rank with `alpha_of_rank`), `usual_dropout`,
///   `usual_modules`: the program's defaults; default modules if absent: q_proj and v_proj, which
///   peft adapts in a Llama,
/// - `expression`: a key whose value replaces the modules if it is set,
/// - `bits`: the key for the bits of frozen weights, 8 (LLM.int8) or 4 (NF4), if they differ from
///   the model's; `load_flags`: true if the program has transformers' keys `load_in_8bit` and
///   `load_in_4bit`; `flags_of_8`, `flags_of_4`: other keys of this meaning,
/// - `parameters`: the key for parameters that are no modules (experts),
/// - `of_transformers`: the program uses the models of transformers 5.
/// Fails with `kInput` on values of a wrong kind.
StatedLoraAdapters read_lora_adapter_settings(const FrameworkSettingsReader& fields,
                                              std::string_view table, std::string_view section);

/// Returns the key that turns LoRA adapters on in a program's settings, one of the keys that the
/// table section lists under `switch`; empty if none of them is true.
std::string_view lora_enabling_key(const FrameworkSettingsReader& fields, std::string_view table,
                                   std::string_view section);

/// Returns the storage type of frozen weights from the key that states their bits: 8: fp8, 4: NF4,
/// otherwise bf16 (weights are not quantised).
DType read_frozen_weight_type(const FrameworkSettingsReader& fields, std::string_view bits);

/// Adds LoRA adapters to the job's model; modules whose adapters a plan cannot express are reported
/// as not read. Precision and framework of the job must be set. Fails with `kInput` if the model
/// has none of the modules, or if the rank exceeds a dimension of one of them.
void apply_lora_adapters(const StatedLoraAdapters& words, const std::string& file, plan::Job& job,
                         ImportReport& report);

/// Reports all adapter settings as not read, because the plan trains all weights instead.
void report_adapter_settings_as_unread(ImportReport& report);

/// Returns Megatron-Core's names (`linear_qkv`) of the modules that have adapters in a model.
std::vector<std::string> megatron_adapter_modules(const model::ModelArchitecture& model);

/// Returns Megatron-Core's names of the modules that have adapters in a model; the single word
/// `all-linear` if all linear layers have them.
std::vector<std::string> compact_megatron_adapter_modules(const model::ModelArchitecture& model);

/// Returns the names in transformers of the modules and parameters that have adapters in a model:
/// `all-linear` if all linear modules have them, else the names in the model's family, or Llama's
/// names if the family is unknown.
huggingface::PeftTargetModules transformers_names_of_adapted_modules(
    const model::ModelArchitecture& model);

/// Returns the names in transformers of the modules that have adapters. Fails with `kUnsupported`
/// if parameters that are no modules (experts) have adapters, because the file cannot name them;
/// `words` ends the message, such as "verl has target_modules".
std::vector<std::string> transformers_adapter_modules_only(const model::ModelArchitecture& model,
                                                           std::string_view words);

}  // namespace stepwright::framework_files
