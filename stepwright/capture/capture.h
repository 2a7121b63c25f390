#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The command to capture, and the options of the capture.
struct CaptureRequest {
  Words command;                      ///< The command to capture: the script and its arguments.
  std::optional<std::int64_t> nodes;  ///< Nodes of the job; nullopt: the script decides.
  /// Devices of each node; nullopt: the script decides.
  std::optional<std::int64_t> devices_per_node;
  bool only_launchers = false;  ///< True if commands that write, download or delete do nothing.
  std::chrono::milliseconds timeout{std::chrono::minutes(5)};
  /// Program whose main() calls `stand_in` first; empty: this program.
  std::filesystem::path program;
};

/// Runs a launch script with stand-ins in place of its launchers, which record the commands that
/// they were asked to start. The script's output goes to standard error; its standard input is this
/// process's, or empty if that is a terminal. On return every process that the script started has
/// ended, and the temporary folder is removed.
/// SIGINT, SIGTERM and SIGHUP are passed on to the script and end it; the commands recorded until
/// then are returned. Fails with `kInput` for a wrong request, a command that cannot be run, and
/// scripts that call each other without end; with `kRuntime` if the machine refuses processes or
/// files.
CaptureResult capture(const CaptureRequest& request);

}  // namespace stepwright::capture
