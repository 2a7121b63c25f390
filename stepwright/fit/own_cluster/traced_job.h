#pragma once

#include <vector>

#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Fails with `kInput`, naming the difference, unless traces belong to the job of a program: from
/// all of its ranks and no others, with its products and its kinds of messages. `log`: the calls of
/// the same files.
void check_traces(const step::StepProgram& program, const plan::Grid& grid,
                  const std::vector<HostTrace>& ranks, const logs::Log& log);

}  // namespace stepwright::fit
