#pragma once

#include <cstdint>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright {

/// The line that says what is trained, on what: "llama-3-70b on 64 x h100-sxm-80g (dgx-h100, 8
/// nodes), 512 sequences of 8,192 tokens, bf16".
std::string job_line(const Job& job);

/// A plan in words, for the answer: what is at its default and has no effect is left out.
std::string plan_words(const Plan& plan, const Job& job);

/// A plan as short as a table wants it: "tp8+sp pp4x2 dp2 mb1 zero1 recompute:full exposed:tp,pp";
/// it does not say what is not recomputed, and which messages run beside computation.
std::string plan_code(const Plan& plan);

}  // namespace stepwright
