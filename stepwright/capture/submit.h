#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Imitates sbatch, salloc, qsub and bsub: runs the batch script (a file, standard input, `--wrap`)
/// as on the first node of the requested job, then prints what the scheduler would print. Runs at
/// most 16 tasks of a job array, and no script that submits itself again. Returns an exit code.
int emulate_batch_submission(ScriptCaptureContext context, const Words& words);

}  // namespace stepwright::capture
