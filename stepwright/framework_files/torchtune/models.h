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

/// The function of torchtune that builds a model, as `_component_` names it
/// (`torchtune.models.llama3_1.qlora_llama3_1_8b`), and what its name says of adapters.
struct TuneBuilder {
  std::string name;  ///< "llama3_1_8b": without its module, `lora_` and `qlora_`.
  bool adapters = false;
  bool narrow = false;  ///< True if its frozen products are stored in NF4.
};
TuneBuilder tune_builder(std::string_view component);

/// Takes the model of a section `model`: a built-in one, or the sizes that a general builder is
/// given. Others are left for the person to give. Fails with `kUnsupported` on models that see
/// images and on those that score texts, with `kInput` where a size is missing.
void take_tune_model(const Fields& model, ModelWords& model_words);

/// The section `model` that builds the model of a job, its adapters aside, and the tokenizer and
/// checkpoints that go with it. A model that torchtune has no builder for is `my_model.build`.
struct TuneModel {
  Tree section;
  std::string tokenizer;         ///< Component that builds the tokenizer.
  std::string_view checkpoints;  ///< Value of the key `checkpointer.model_type`.
  std::int64_t shards = 0;       ///< Files of its released weights; 0: not known.
};
TuneModel tune_model(const plan::Job& job);

}  // namespace stepwright::framework_files
