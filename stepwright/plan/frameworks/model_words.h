#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright {

/// What a model has that a plain Llama has not, by its word in the files of `plan/frameworks/`.
struct ModelWord {
  std::string_view name;
  bool (*has)(const Architecture& model);
};
std::span<const ModelWord> model_words();

/// A gated delta net or Mamba-2 of such sizes, with the parts and numbers that Megatron-Core's have
/// and its configuration does not state: NVIDIA/Megatron-LM megatron/core/ssm/mamba_mixer.py and
/// gated_delta_net.py.
StateMixer usual_mixer(Mixer kind, const StateMixer& sizes);

}  // namespace stepwright
