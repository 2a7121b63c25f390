#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Acts for sbatch, salloc, qsub and bsub: runs the batch script (a file, standard input, `--wrap`)
/// as on the first node of the job that its options ask for, then prints what the scheduler prints.
/// Of a job array at most 16 tasks run. A script that submits itself again is not followed.
/// Returns an exit code.
int submit(Context context, const Words& words);

}  // namespace stepwright::capture
