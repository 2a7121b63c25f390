#pragma once

#include <span>
#include <string_view>

#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// A word in the files of `plan/frameworks/` for a model feature that a plain Llama lacks.
struct ModelWord {
  std::string_view name;
  bool (*has)(const model::Architecture& model);
};
std::span<const ModelWord> model_words();

/// Returns a gated delta net or Mamba-2 with the given sizes and, for everything that
/// Megatron-Core's configuration does not state, the values fixed in its code: NVIDIA/Megatron-LM
/// megatron/core/ssm/mamba_mixer.py and gated_delta_net.py.
model::StateMixer usual_mixer(model::Mixer kind, const model::StateMixer& sizes);

}  // namespace stepwright::plan
