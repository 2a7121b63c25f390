#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Returns the number of sequences on which one policy update of a reinforcement-learning job
/// trains; if documents are packed into sequences, the number of documents.
double sequences_per_policy_update(const plan::Job& job);

/// Returns the seconds in which a single process sends the generated sequences of a step to the
/// training ranks (as in verl); 0 if the job has no such process.
double sequence_dispatch_s(const plan::Job& job);

/// Returns the number of tokens that a step of reinforcement learning generates: all tokens of the
/// sequences on which it trains, minus their prompts.
double generated_tokens_per_step(const plan::Job& job);

/// True if the job states how fast sequences are generated (tokens/s or seconds), so that it need
/// not be estimated.
bool is_generation_speed_stated(const plan::RolloutSettings& rollout);

/// Returns the seconds in which `devices` devices generate a step's sequences, at the speed that
/// the job states: inversely proportional to the number of devices, but at least the time of the
/// longest sequence. `stated_on`: number of devices for which the job states a time.
double generation_seconds_at_stated_speed(const plan::Job& job, std::int64_t devices,
                                          std::int64_t stated_on);

}  // namespace stepwright::phases
