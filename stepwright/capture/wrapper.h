#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Returns the command line to run for a wrapper (nohup, env, timeout, ...) so that launchers
/// inside it are still captured: a launcher given by path becomes its stand-in, `env -i` and `env
/// PATH=X` keep the capture's variables and folders, `tail -f` does not wait.
Words rewrite_wrapper_command_for_capture(const ScriptCaptureContext& context, const Words& words);

}  // namespace stepwright::capture
