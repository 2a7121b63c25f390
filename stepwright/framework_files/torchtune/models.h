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
struct TuneBuilder {
  std::string name;  ///< Name without its module and `lora_` or `qlora_`: "llama3_1_8b".
  bool adapters = false;
  bool narrow = false;  ///< True if the builder stores frozen products in NF4.
};
TuneBuilder tune_builder(std::string_view component);

/// Takes the model of a section `model`: a built-in one, or the sizes given to a general builder.
/// For any other builder the user must give the model. Fails with `kUnsupported` for models that
/// read images or score texts, with `kInput` if a size is missing.
void take_tune_model(const Fields& model, ModelWords& model_words);

/// The section `model` that builds a job's model without its adapters, and the matching tokenizer
/// and checkpoints. If torchtune has no builder for the model, the section names `my_model.build`.
struct TuneModel {
  Tree section;
  std::string tokenizer;         ///< Name of the component that builds the tokenizer.
  std::string_view checkpoints;  ///< Value for the key `checkpointer.model_type`.
  std::int64_t shards = 0;       ///< Number of files of the model's released weights; 0: unknown.
};
TuneModel tune_model(const plan::Job& job);

}  // namespace stepwright::framework_files
