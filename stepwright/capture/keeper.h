#pragma once

#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// The name under which the process starts that keeps the script.
inline constexpr std::string_view kKeeperName = "stepwright-keeper";
/// The variable with the number of the descriptor on which the keeper reports.
inline constexpr const char* kStatusVariable = "STEPWRIGHT_CAPTURE_STATUS";

/// Runs a script in a session of its own, adopts all that it leaves behind, and ends all of it:
/// when the script has ended and a few seconds have passed, when a signal comes (it is passed on
/// first), when a stand-in asks for it, or when the capture is gone. Reports "exit CODE", or "error
/// TEXT" if the command cannot be started.
int supervise_script(Context context, const Words& command);

}  // namespace stepwright::capture
