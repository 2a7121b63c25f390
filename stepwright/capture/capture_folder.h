#pragma once

#include <filesystem>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Adds programs that do nothing in place of commands that write files (cp, rm, ...) to the
/// temporary folder of `stepwright capture`, unless they exist.
void add_file_writer_stand_ins(const std::filesystem::path& folder);

/// Temporary folder of `stepwright capture`: links named like launchers (torchrun, srun, ...) that
/// lead to the program which records launches, the options, and the launches recorded so far. The
/// destructor removes the folder.
class ScriptCaptureFolder {
 public:
  /// Makes the temporary folder. `program`: absolute path of the program that the links lead to,
  /// whose main() must first call `run_launcher_stand_in`. Fails with `kRuntime` if the folder
  /// cannot be made.
  ScriptCaptureFolder(const std::filesystem::path& program, const ScriptCaptureSettings& settings);
  ~ScriptCaptureFolder();
  ScriptCaptureFolder(const ScriptCaptureFolder&) = delete;
  ScriptCaptureFolder& operator=(const ScriptCaptureFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the path of the link by which the keeper (the process that supervises the script) is
  /// started.
  [[nodiscard]] std::filesystem::path supervisor_program_path() const;
  /// Returns the path of the file that each bash of a script under `stepwright capture` reads first
  /// (BASH_ENV), so that launchers are recorded, not started.
  [[nodiscard]] std::filesystem::path bash_startup_file_path() const;

 private:
  std::filesystem::path path_;
};

}  // namespace stepwright::capture
