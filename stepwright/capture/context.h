#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Environment variable of every process of a script under `stepwright capture`: path of the
/// temporary folder where its launches are recorded.
inline constexpr const char* kCaptureFolderVariable = "STEPWRIGHT_CAPTURE";
/// Environment variable with the nesting depth: how many scripts and carriers (srun, ssh, ...)
/// started this program one inside the other.
inline constexpr const char* kScriptDepthVariable = "STEPWRIGHT_CAPTURE_DEPTH";
/// Environment variable with the path of the real program that a stand-in replaces; set only if the
/// script called the program by path.
inline constexpr const char* kReplacedProgramPathVariable = "STEPWRIGHT_CAPTURE_REAL";
/// Environment variable that is set if commands that write files must do nothing: "remote" on
/// another machine or in a container, else "local".
inline constexpr const char* kCaptureDryRunVariable = "STEPWRIGHT_CAPTURE_HARMLESS";
/// Deepest allowed nesting of scripts that call each other; deeper nesting stops `stepwright
/// capture` with an error.
inline constexpr int kMaxScriptNestingDepth = 50;

/// Options of `stepwright capture` for the programs that stand in for launchers (torchrun, srun,
/// ...) and record launches.
struct ScriptCaptureSettings {
  /// Number of nodes of the job; nullopt: what the script states.
  std::optional<std::int64_t> nodes;
  /// Number of devices of each node; nullopt: what the script states.
  std::optional<std::int64_t> devices_per_node;
  bool only_launchers = false;
  /// Environment variables that `stepwright capture` had when it started the script; later changes
  /// are recorded with each launch.
  std::map<std::string, std::string> environment;
};

/// Facts that a process of a script under `stepwright capture` knows: the folder where launches are
/// recorded, the options, the launchers in front of its command, and the batch job.
struct ScriptCaptureContext {
  std::filesystem::path folder;  ///< Path of the temporary folder in which launches are recorded.
  ScriptCaptureSettings settings;
  /// Words of the launchers in front of the command (srun, docker, ...), the outermost first.
  Words launcher;
  /// Nodes and devices of the batch job that the process is in; nullopt: not in a batch job.
  std::optional<BatchJobAllocation> allocation;
  /// Absolute paths of the batch scripts that started this process, which must not be submitted
  /// again.
  Words scripts;
  /// True if the command runs on another machine (ssh, kubectl) or in a container.
  bool remote = false;

  /// True if commands that write, download or delete files must do nothing.
  [[nodiscard]] bool is_file_writing_disabled() const { return remote || settings.only_launchers; }
  /// Returns the number of nodes that the user or the batch job states; nullopt: neither does.
  [[nodiscard]] std::optional<std::int64_t> stated_node_count() const;
  /// Returns the devices per node that the user or the batch job states; nullopt: neither does.
  [[nodiscard]] std::optional<std::int64_t> devices_per_node() const;
};

/// Writes the options of `stepwright capture` into its temporary folder, where the programs
/// standing in for launchers read them.
void write_capture_settings(const ScriptCaptureSettings& settings,
                            const std::filesystem::path& folder);

/// Reads where and how launches of this process are recorded, from environment variables and the
/// folder that they name; nullopt: the process is not part of a script under `stepwright capture`.
std::optional<ScriptCaptureContext> read_capture_context();

/// Sets the environment variables that tell programs started by this process where and how their
/// launches are recorded.
void export_capture_context(const ScriptCaptureContext& context);

/// Returns the environment variables of this process; bytes that are not UTF-8 are replaced.
std::map<std::string, std::string> process_environment();

/// Returns the value of an environment variable; empty if it is not set.
std::string environment_variable(const char* name);

}  // namespace stepwright::capture
