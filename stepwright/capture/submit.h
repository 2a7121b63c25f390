#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Acts for sbatch, salloc, qsub and bsub: runs the batch script (a file, standard input, `--wrap`)
/// as on the first node of the job that its options request, then prints what the scheduler would
/// print. Runs at most 16 tasks of a job array. A script that submits itself is not run again.
/// Returns an exit code.
int submit(CaptureContext context, const Words& words);

}  // namespace stepwright::capture
