#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Environment variable with the folder of the capture that a program runs in.
inline constexpr const char* kCaptureFolderVariable = "STEPWRIGHT_CAPTURE";
/// Environment variable with the number of scripts and carriers around a program.
inline constexpr const char* kScriptDepthVariable = "STEPWRIGHT_CAPTURE_DEPTH";
/// Environment variable with the path of the program that a stand-in replaces, if it was called by
/// path.
inline constexpr const char* kRealProgramVariable = "STEPWRIGHT_CAPTURE_REAL";
/// Environment variable that is set if commands that write do nothing: "local" or "remote".
inline constexpr const char* kDryRunVariable = "STEPWRIGHT_CAPTURE_HARMLESS";
/// Deepest nesting of scripts that call each other.
inline constexpr int kMaxScriptDepth = 50;

/// The options of a capture that its stand-ins need.
struct CaptureSettings {
  std::optional<std::int64_t> nodes;  ///< Nodes of the job; nullopt: the script decides.
  /// Devices of each node; nullopt: the script decides.
  std::optional<std::int64_t> devices_per_node;
  bool only_launchers = false;
  /// Environment in which the capture was started.
  std::map<std::string, std::string> environment;
};

/// Surroundings of a stand-in: the capture, the carriers before its command, and the batch job.
struct CaptureContext {
  std::filesystem::path folder;  ///< Temporary folder of the capture.
  CaptureSettings settings;
  Words launcher;  ///< Words of the carriers around the command, the outermost first.
  /// Allocation of the enclosing batch job; nullopt outside of one.
  std::optional<Allocation> allocation;
  Words scripts;        ///< Absolute paths of the batch scripts that this program runs in.
  bool remote = false;  ///< True if the command runs through ssh, kubectl or a container.

  /// True if commands that write, download or delete do nothing.
  [[nodiscard]] bool writes_nothing() const { return remote || settings.only_launchers; }
  /// Returns the number of nodes that the user or the batch job states; nullopt: neither does.
  [[nodiscard]] std::optional<std::int64_t> nodes() const;
  /// Returns the devices per node that the user or the batch job states; nullopt: neither does.
  [[nodiscard]] std::optional<std::int64_t> devices_per_node() const;
};

/// Writes the settings of a capture into its folder, for its stand-ins.
void write_settings(const CaptureSettings& settings, const std::filesystem::path& folder);

/// Returns the context of this process; nullopt if it is not part of a capture.
std::optional<CaptureContext> read_context();

/// Writes the context into this process's environment, for programs that it starts.
void export_context(const CaptureContext& context);

/// Returns the environment of this process; bytes that are not UTF-8 are replaced.
std::map<std::string, std::string> own_environment();

/// Returns the value of an environment variable; empty if it is not set.
std::string variable(const char* name);

}  // namespace stepwright::capture
