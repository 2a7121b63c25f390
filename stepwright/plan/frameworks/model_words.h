#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Word in the files of `plan/frameworks/` for a feature that a plain Llama has not.
struct ModelWord {
  std::string_view name;
  bool (*has)(const model::Architecture& model);
};
std::span<const ModelWord> model_words();

/// A gated delta net or Mamba-2 of such sizes, with the parts and numbers that Megatron-Core's have
/// and its configuration does not state: NVIDIA/Megatron-LM megatron/core/ssm/mamba_mixer.py and
/// gated_delta_net.py.
model::StateMixer usual_mixer(model::Mixer kind, const model::StateMixer& sizes);

}  // namespace stepwright::plan
