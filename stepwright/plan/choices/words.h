#pragma once

#include <cstdint>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns one line that describes a training job: "llama-3-70b on 64 x h100-sxm-80g (dgx-h100, 8
/// nodes), 512 sequences of 8,192 tokens, bf16".
std::string job_summary_line(const Job& job);

/// Returns a description of a plan in words for users, without choices that are at their default or
/// have no effect.
std::string plan_description(const Plan& plan, const Job& job);

}  // namespace stepwright::plan
