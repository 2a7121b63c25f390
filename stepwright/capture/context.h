#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Environment variable with the path of the folder of the capture that a process belongs to.
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
/// The deepest allowed nesting of scripts that call each other; deeper nesting stops the capture.
inline constexpr int kMaxScriptNestingDepth = 50;

/// The options of a capture that the programs standing in for launchers need.
struct ScriptCaptureSettings {
  /// Number of nodes of the job; nullopt: what the script states.
  std::optional<std::int64_t> nodes;
  /// Number of devices of each node; nullopt: what the script states.
  std::optional<std::int64_t> devices_per_node;
  bool only_launchers = false;
  /// Environment variables at the start of the capture.
  std::map<std::string, std::string> environment;
};

/// Facts that a process inside a capture knows: the capture's folder and settings, the launchers in
/// front of its command, and the batch job.
struct ScriptCaptureContext {
  std::filesystem::path folder;  ///< Path of the temporary folder of the capture.
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

/// Writes the settings of a capture into its folder, where the programs standing in for launchers
/// read them.
void write_capture_settings(const ScriptCaptureSettings& settings,
                            const std::filesystem::path& folder);

/// Reads from the environment which capture this process belongs to; nullopt: it is in none.
std::optional<ScriptCaptureContext> read_capture_context();

/// Writes what this process knows about its capture into environment variables, for programs that
/// it starts.
void export_capture_context(const ScriptCaptureContext& context);

/// Returns the environment variables of this process; bytes that are not UTF-8 are replaced.
std::map<std::string, std::string> process_environment();

/// Returns the value of an environment variable; empty if it is not set.
std::string environment_variable(const char* name);

}  // namespace stepwright::capture
