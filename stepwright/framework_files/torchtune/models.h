#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// The torchtune function that builds a model, as `_component_` names it
/// (`torchtune.models.llama3_1.qlora_llama3_1_8b`), and the adapters that its name implies.
struct TorchtuneModelBuilder {
  /// Name of the function without module and prefix `lora_` or `qlora_`: "llama3_1_8b".
  std::string name;
  bool adapters = false;
  /// True if frozen weights are stored in 4 bits (NF4), as in `qlora_` functions.
  bool narrow = false;
};
TorchtuneModelBuilder tune_builder(std::string_view component);

/// Sets the model from torchtune's section `model`, by its `_component_` or stated sizes; an
/// unknown `_component_` leaves the model empty, so that the user must state it. Fails with
/// `kUnsupported` for models that read images or score texts, with `kInput` if a size is missing.
void read_torchtune_model(const FrameworkSettingsReader& model, StatedModel& model_words);

/// torchtune's settings for a job's model, without adapters: the section `model`, tokenizer and
/// checkpoint type. If torchtune cannot build the model, the section names a function
/// `my_model.build` that the user must write.
struct TorchtuneModelSettings {
  DocumentTree section;
  /// torchtune function that builds the tokenizer, as `_component_` names it.
  std::string tokenizer;
  std::string_view checkpoints;  ///< Value of torchtune's `checkpointer.model_type`.
  /// Number of files in which the model's weights are released; 0: unknown.
  std::int64_t shards = 0;
};
TorchtuneModelSettings tune_model(const plan::Job& job);

}  // namespace stepwright::framework_files
