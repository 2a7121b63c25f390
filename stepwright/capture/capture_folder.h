#pragma once

#include <filesystem>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Adds stand-ins for commands that write files (cp, rm, ...) to a capture's folder, if absent.
void link_writers(const std::filesystem::path& folder);

/// The temporary folder of a capture. It holds links that have the names of programs and lead to
/// the stand-in program, the settings, and the events that stand-ins record. The destructor removes
/// the folder.
class CaptureFolder {
 public:
  /// Makes the folder. `program` is the absolute path of a program whose main() calls `stand_in`.
  /// Fails with `kRuntime` if the folder cannot be made.
  CaptureFolder(const std::filesystem::path& program, const CaptureSettings& settings);
  ~CaptureFolder();
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the link by which the keeper, the process that supervises the script, is started.
  [[nodiscard]] std::filesystem::path keeper() const;
  /// Returns the path of the file that each bash of the capture reads first.
  [[nodiscard]] std::filesystem::path bash_startup_file() const;

 private:
  std::filesystem::path path_;
};

}  // namespace stepwright::capture
