#pragma once

#include <cstdint>
#include <string_view>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the method of verl's trainer of policies: GRPO and its relatives, or PPO with a critic;
/// its updates, the reference's place, and the engines that generate. `engine`: what trains the
/// policy.
plan::TrainingMethod verl_method(const Fields& root, std::string_view engine);

/// Reads the method of OpenRLHF's trainer under Ray, whose models are on nodes of their own or
/// share them.
plan::TrainingMethod openrlhf_method(const Fields& fields);

/// The answers to each prompt that a written file asks for: as many as divide the sequences of an
/// update, at most 16. Fails with `kUnsupported` where nothing from 2 on does.
std::int64_t answers_of(std::int64_t sequences);

/// Tokens of a prompt at most, in a file whose sequences are of a prompt and its answer: those of
/// the job's rollout, or a quarter of a sequence where it has none.
std::int64_t prompt_tokens(const plan::Job& job);

}  // namespace stepwright::framework_files
