#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Number of sequences of one update: of documents, if a packed sequence holds several.
double sequences_of_update(const plan::Job& job);

/// Seconds in which one process dispatches the sequences of a step; 0 if the job has no dispatch.
double dispatch_s(const plan::Job& job);

/// Tokens that a step generates: the tokens of its updates' documents, without their prompts.
double generated_tokens(const plan::Job& job);

/// True if a rollout states the speed of generation.
bool is_stated(const plan::Rollout& rollout);

/// Returns the seconds in which `devices` devices generate a step's sequences, at the speed that
/// the job's rollout states: inversely proportional to the number of devices, but at least as long
/// as the longest sequence takes. A stated time is for `stated_on` devices.
double generation_s(const plan::Job& job, std::int64_t devices, std::int64_t stated_on);

}  // namespace stepwright::phases
