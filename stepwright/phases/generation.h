#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Sequences that one update learns from: documents, where several are in a sequence.
double sequences_of_update(const plan::Job& job);

/// Seconds in which one process hands out the sequences of a step; 0 where the job has none.
double dispatch_s(const plan::Job& job);

/// Tokens that a step generates: those of the documents of its updates without their prompts.
double generated_tokens(const plan::Job& job);

/// True if a rollout says how fast sequences are generated.
bool is_stated(const plan::Rollout& rollout);

/// Seconds in which so many devices generate them, at the speed that the job's rollout states: in
/// inverse proportion to the devices, but no less than the longest sequence takes. A stated time is
/// that of `stated_on` devices.
double generation_s(const plan::Job& job, std::int64_t devices, std::int64_t stated_on);

}  // namespace stepwright::phases
