#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the method of verl's trainer of policies: GRPO and its relatives, or PPO with a critic;
/// the number of updates, where the reference model is, and the engines that generate. `engine` is
/// the engine that trains the policy.
plan::TrainingMethod verl_method(const Fields& root, std::string_view engine);

/// Reads the method of OpenRLHF's trainer under Ray, whose models have nodes of their own or share
/// them.
plan::TrainingMethod openrlhf_method(const Fields& fields);

/// Returns the number of answers per prompt to write into a file: the largest number up to 16 that
/// divides the sequences of an update. Fails with `kUnsupported` if no number from 2 on does.
std::int64_t answers_per_prompt(std::int64_t sequences);

/// Returns the most tokens of a prompt, for a file whose sequences consist of prompt and answer:
/// the prompt length of the job's rollout, or a quarter of a sequence if the job has no rollout.
std::int64_t prompt_tokens(const plan::Job& job);

}  // namespace stepwright::framework_files
