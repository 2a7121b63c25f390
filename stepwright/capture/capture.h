#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The arguments of the command `capture`, which runs a launch script and records the launches in
/// it.
struct ScriptCaptureRequest {
  Words command;  ///< The command that starts the launch script: its words.
  /// Number of nodes of the job; nullopt: what the script states.
  std::optional<std::int64_t> nodes;
  /// Number of devices of each node; nullopt: what the script states.
  std::optional<std::int64_t> devices_per_node;
  bool only_launchers = false;  ///< True: commands that write, download or delete files do nothing.
  std::chrono::milliseconds timeout{std::chrono::minutes(5)};
  /// Program that the stand-ins for launchers run; its main() must call `run_launcher_stand_in`
  /// first. Empty: this program.
  std::filesystem::path program;
};

/// Runs a launch script with stand-ins in place of torchrun, srun and other launchers, and returns
/// the commands that they were asked to start. The script's output goes to standard error. On
/// return all its processes have ended. SIGINT, SIGTERM and SIGHUP end the script; what was
/// recorded so far is returned. Fails with `kInput` for a command that cannot be run or scripts
/// that call each other without end, with `kRuntime` if the system refuses processes or files.
ScriptCaptureResult capture_launch_script(const ScriptCaptureRequest& request);

}  // namespace stepwright::capture
