#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Acts for srun, mpirun, docker, ssh and other carriers: runs the command after their options
/// once, as the first rank on the first node. A carrier without a command is recorded, as a launch
/// (`kubectl apply -f job.yaml`, `docker run IMAGE`) or as not run (`docker build`). Returns an
/// exit code.
int run_wrapped_command(CaptureContext context, const Words& words);

}  // namespace stepwright::capture
