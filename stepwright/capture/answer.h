#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Acts for programs that report nodes and devices (scontrol, nvidia-smi, ...): prints what they
/// would print on the first node. If the number of devices per node is unknown, the real program
/// runs; if there is none, a note asks for `--gpus-per-node`. Returns an exit code.
int emulate_scheduler_query(const CaptureContext& context, const Words& words);

/// Acts for programs that print the number of devices of a node, with the rules of
/// `emulate_scheduler_query`. Returns an exit code.
int print_device_count(const CaptureContext& context, const Words& words);

}  // namespace stepwright::capture
