#pragma once

#include <vector>

#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Fails with `kInput`, naming what differs, unless traces are of the job of a program: of as many
/// ranks, of all of them, with its products and its kinds of messages. `log` holds the calls of the
/// same files.
void check_traces(const step::StepProgram& program, const plan::Grid& grid,
                  const std::vector<HostTrace>& ranks, const logs::Log& log);

}  // namespace stepwright::fit
