#pragma once

#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Name under which the keeper, the process that supervises the script, is started.
inline constexpr std::string_view kKeeperName = "stepwright-keeper";
/// Environment variable with the number of the file descriptor to which the keeper reports.
inline constexpr const char* kStatusVariable = "STEPWRIGHT_CAPTURE_STATUS";

/// Runs a script in a session of its own, adopts every process that it leaves behind, and ends them
/// all: a few seconds after the script has ended, when a signal comes (which is passed on first),
/// when a stand-in asks for it, or when the capturing process is gone. Reports "exit CODE", or
/// "error TEXT" if the command cannot be started.
int supervise_script(CaptureContext context, const Words& command);

}  // namespace stepwright::capture
