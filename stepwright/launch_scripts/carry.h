#pragma once

#include "stepwright/launch_scripts/captured.h"
#include "stepwright/launch_scripts/context.h"

namespace stepwright::launch_scripts {

/// Acts for srun, mpirun, docker, ssh and other carriers: goes on once with the command behind
/// their options, as the first rank on the first node. What carries no command is written down as a
/// launch
/// (`kubectl apply -f job.yaml`, `docker run IMAGE`) or as not run (`docker build`). Returns an
/// exit code.
int carry(Context context, const Words& words);

}  // namespace stepwright::launch_scripts
