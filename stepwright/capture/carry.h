#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Imitates srun, mpirun, docker, ssh and other programs that run a command: runs that command
/// once, as the first rank on the first node. Words that contain no such command are recorded as a
/// launch (`kubectl apply -f job.yaml`, `docker run IMAGE`) or as skipped (`docker build`). Returns
/// an exit code.
int run_command_inside_carrier(ScriptCaptureContext context, const Words& words);

}  // namespace stepwright::capture
