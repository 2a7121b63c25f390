#pragma once

#include <filesystem>

#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Adds the stand-ins of commands that write to the folder of a capture, if they are not there.
void link_writers(const std::filesystem::path& folder);

/// The temporary folder of a capture: links named as programs to the program that stands in for
/// them, the settings, and what the stand-ins write down. It is removed with its owner.
class CaptureFolder {
 public:
  /// Makes the folder. `program` is the absolute path of a program whose main() calls `stand_in`.
  /// Fails with `kRuntime` if the folder cannot be made.
  CaptureFolder(const std::filesystem::path& program, const Settings& settings);
  ~CaptureFolder();
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The link under which the keeper of the script starts.
  [[nodiscard]] std::filesystem::path keeper() const;
  /// The file that each bash reads first.
  [[nodiscard]] std::filesystem::path bash_startup_file() const;

 private:
  std::filesystem::path path_;
};

}  // namespace stepwright::capture
