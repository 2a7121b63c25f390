#pragma once

#include <cstdint>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The line that says what is trained, on what: "llama-3-70b on 64 x h100-sxm-80g (dgx-h100, 8
/// nodes), 512 sequences of 8,192 tokens, bf16".
std::string job_line(const Job& job);

/// A plan in words, for the answer: what is at its default and has no effect is left out.
std::string plan_words(const Plan& plan, const Job& job);

}  // namespace stepwright::plan
