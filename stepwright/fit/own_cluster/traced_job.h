#pragma once

#include <vector>

#include "stepwright/fit/own_cluster/host_steps.h"
#include "stepwright/logs/log.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Checks that traces belong to the job of a step program: they come from all of its ranks and no
/// others, with its matrix products and its kinds of messages. Fails with `kInput`, naming the
/// difference. `log`: the calls of the same files.
void check_traces_match_job(const step::StepProgram& program, const plan::RankGrid& grid,
                            const std::vector<RankHostTrace>& ranks,
                            const logs::CommunicationLog& log);

}  // namespace stepwright::fit
