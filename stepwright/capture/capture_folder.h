#pragma once

#include <filesystem>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Adds stand-ins for commands that write files (cp, rm, ...) to a capture's folder, if absent, so
/// that these commands do nothing.
void add_file_writer_stand_ins(const std::filesystem::path& folder);

/// The temporary folder of a capture: links named like launchers that lead to the recording
/// program, the settings, and the events recorded so far. The destructor removes the folder.
class ScriptCaptureFolder {
 public:
  /// Makes the folder. `program`: absolute path of the launchers' stand-in, whose main() must first
  /// call `run_launcher_stand_in`. Fails with `kRuntime` if the folder cannot be made.
  ScriptCaptureFolder(const std::filesystem::path& program, const ScriptCaptureSettings& settings);
  ~ScriptCaptureFolder();
  ScriptCaptureFolder(const ScriptCaptureFolder&) = delete;
  ScriptCaptureFolder& operator=(const ScriptCaptureFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the path of the link by which the keeper (the process that supervises the script) is
  /// started.
  [[nodiscard]] std::filesystem::path supervisor_program_path() const;
  /// Returns the path of the file that each bash of the capture reads before it runs a script.
  [[nodiscard]] std::filesystem::path bash_startup_file_path() const;

 private:
  std::filesystem::path path_;
};

}  // namespace stepwright::capture
