#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// A word in the framework files of `plan/frameworks/` for a model feature beyond a plain Llama.
struct ModelFeatureWord {
  std::string_view name;
  bool (*has)(const model::ModelArchitecture& model);
};
std::span<const ModelFeatureWord> model_words();

/// Returns a gated delta net or Mamba-2 mixer with the given sizes and, for everything else, the
/// values fixed in Megatron-Core's code: NVIDIA/Megatron-LM megatron/core/ssm/mamba_mixer.py and
/// gated_delta_net.py.
model::RecurrentMixer megatron_recurrent_mixer(model::TokenMixer kind,
                                               const model::RecurrentMixer& sizes);

}  // namespace stepwright::plan
