#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The command to capture, and the options of the capture.
struct CaptureRequest {
  Words command;                                 ///< The script and its arguments.
  std::optional<std::int64_t> nodes;             ///< nullopt: the script says.
  std::optional<std::int64_t> devices_per_node;  ///< nullopt: the script says.
  bool only_launchers = false;  ///< Commands that write, fetch or delete do nothing.
  std::chrono::milliseconds timeout{std::chrono::minutes(5)};
  /// A program whose main() calls `stand_in` first; empty: the program that runs.
  std::filesystem::path program;
};

/// Runs a launch script with stand-ins in place of its launchers, which write down what they were
/// asked to start. The script's output goes to standard error; its standard input is ours, or empty
/// where ours is a terminal. When it returns, nothing that it started is left, nor its temporary
/// folder. SIGINT, SIGTERM and SIGHUP are passed on to the script and end it; what was seen until
/// then is returned. Fails with `kInput` on a request that is wrong, a command that cannot be run
/// and scripts that call each other without end, with `kRuntime` where the machine refuses
/// processes or files.
Captured capture(const CaptureRequest& request);

}  // namespace stepwright::capture
