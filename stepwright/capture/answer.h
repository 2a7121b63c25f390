#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Imitates programs that report nodes and devices (scontrol, nvidia-smi, ...): prints what they
/// would print on the job's first node. If the devices per node are unknown, runs the real program;
/// if that is missing, notes that `--gpus-per-node` is needed. Returns an exit code.
int emulate_scheduler_query(const ScriptCaptureContext& context, const Words& words);

/// Imitates programs that print the number of devices of a node; runs the real program if that
/// number is unknown. Returns an exit code.
int emulate_device_count_query(const ScriptCaptureContext& context, const Words& words);

}  // namespace stepwright::capture
