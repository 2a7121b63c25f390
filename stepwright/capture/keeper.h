#pragma once

#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Program name (argv[0]) of the keeper, the process that supervises the captured script.
inline constexpr std::string_view kSupervisorProgramName = "stepwright-keeper";
/// Environment variable with the number of the file descriptor to which the keeper (the process
/// that supervises the script) reports.
inline constexpr const char* kSupervisorDescriptorVariable = "STEPWRIGHT_CAPTURE_STATUS";

/// Runs a script and ends every process that it leaves behind: a few seconds after the script has
/// ended, on a signal (which is passed on first), when a recorded error asks for it, or when the
/// capturing process is gone. Reports "exit CODE" to that process, or "error TEXT" if the command
/// cannot be started.
int run_supervised_script(ScriptCaptureContext context, const Words& command);

}  // namespace stepwright::capture
