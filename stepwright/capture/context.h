#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The variable that names the folder of the capture that a program runs in.
inline constexpr const char* kFolderVariable = "STEPWRIGHT_CAPTURE";
/// How many scripts and carriers stand above a program.
inline constexpr const char* kDepthVariable = "STEPWRIGHT_CAPTURE_DEPTH";
/// The path of the program for which a stand-in acts, if it was called by its path.
inline constexpr const char* kRealVariable = "STEPWRIGHT_CAPTURE_REAL";
/// Present if commands that write do nothing: "local" or "remote".
inline constexpr const char* kHarmlessVariable = "STEPWRIGHT_CAPTURE_HARMLESS";
/// How deep scripts may call each other.
inline constexpr int kDeepest = 50;

/// The options of a capture, as its stand-ins need them.
struct Settings {
  std::optional<std::int64_t> nodes;             ///< nullopt: the script says.
  std::optional<std::int64_t> devices_per_node;  ///< nullopt: the script says.
  bool only_launchers = false;
  std::map<std::string, std::string> environment;  ///< Variables with which the capture was called.
};

/// Where a stand-in stands: the capture, and what is in front of its command.
struct Context {
  std::filesystem::path folder;  ///< Folder of the capture.
  Settings settings;
  Words launcher;  ///< Words of carriers in front, the outermost first.
  /// Allocation of the enclosing batch job; nullopt outside of one.
  std::optional<Allocation> allocation;
  Words scripts;        ///< Absolute paths of the enclosing batch scripts.
  bool remote = false;  ///< True behind ssh, kubectl and containers.

  /// True if commands that write, fetch or delete do nothing.
  [[nodiscard]] bool writes_nothing() const { return remote || settings.only_launchers; }
  /// The number of nodes that a person or the batch job says; nullopt: neither does.
  [[nodiscard]] std::optional<std::int64_t> nodes() const;
  /// Devices of a node, as `nodes`.
  [[nodiscard]] std::optional<std::int64_t> devices_per_node() const;
};

/// Writes the settings into the folder of a capture.
void write_settings(const Settings& settings, const std::filesystem::path& folder);

/// Returns the context of this process; nullopt: it runs in no capture.
std::optional<Context> read_context();

/// Puts the context into the environment of this process, for programs that it starts.
void export_context(const Context& context);

/// Returns the environment of this process; bytes that are no UTF-8 are replaced.
std::map<std::string, std::string> own_environment();

/// Returns the value of a variable of this process; empty: it is not set.
std::string variable(const char* name);

}  // namespace stepwright::capture
