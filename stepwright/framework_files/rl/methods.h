#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the reinforcement-learning method from verl's configuration: GRPO or PPO with critic,
/// updates per rollout, placement of the reference model, generation engines. `engine` trains the
/// policy ("megatron", "fsdp").
plan::TrainingMethod verl_training_method(const FrameworkSettingsReader& root,
                                          std::string_view engine);

/// Reads the reinforcement-learning method from the arguments of OpenRLHF's PPO trainer under Ray:
/// GRPO or PPO, updates per rollout, and the devices of reference, critic and generation engines.
plan::TrainingMethod openrlhf_training_method(const FrameworkSettingsReader& fields);

/// Returns the number of sampled answers per prompt to write into a reinforcement-learning file:
/// the largest divisor of `sequences` up to 16. Fails with `kUnsupported` if it is 1.
std::int64_t answers_per_prompt(std::int64_t sequences);

/// Returns the largest prompt length in tokens to write into a file whose sequences are prompt and
/// answer: the job's rollout prompt length, or a quarter of a sequence if the job states none.
std::int64_t largest_prompt_tokens(const plan::Job& job);

}  // namespace stepwright::framework_files
