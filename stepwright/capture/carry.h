#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Acts for srun, mpirun, docker, ssh and other carriers: goes on once with the command behind
/// their options, as the first rank on the first node. What carries no command is written down as a
/// launch
/// (`kubectl apply -f job.yaml`, `docker run IMAGE`) or as not run (`docker build`). Returns an
/// exit code.
int follow_carrier(Context context, const Words& words);

}  // namespace stepwright::capture
