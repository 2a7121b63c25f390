#pragma once

#include <span>
#include <vector>

#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"
#include "stepwright/step/turn_play.h"

namespace stepwright {

/// The turns of all positions of a plan for `micro_batches`. Throws `Error{kInput}` where the
/// schedule is `auto` and no order is settled (`with_order`).
std::vector<Turns> plan_turns(const Plan& plan, std::int64_t micro_batches);

/// What turns of a plan take whose schedule is `auto`, in the seconds of its basis.
double order_s(const Plan& plan, std::span<const Turns> turns);

/// No order of a plan whose schedule is `auto` is shorter, in the seconds of its basis.
double least_order_s(const Plan& plan, std::int64_t micro_batches);

/// The program of a plan (`step/program.h`) whose turns are known: those of `plan_turns`.
StepProgram build_program(const Job& job, const Plan& plan, std::vector<Turns> turns);

}  // namespace stepwright
