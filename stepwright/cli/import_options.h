#pragma once

#include <string>
#include <vector>

#include "stepwright/answers/imported_files.h"
#include "stepwright/cli/capture_options.h"
#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// Options that `import` and `check` share: the files of a framework, and values that these files
/// do not contain.
class ImportOptions {
 public:
  explicit ImportOptions(CLI::App& command);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// Returns the files to import, with the values given by options; texts of the console replace
  /// files of the same names. With `--capture`, runs the launch script here and imports its record
  /// instead. Fails as `ScriptCaptureOptions::capture_launch_script`.
  [[nodiscard]] answers::ImportRequest import_request_from_options(const Console& console) const;

 private:
  answers::ImportRequest request_;
  std::vector<std::string> files_;
  bool captures_ = false;
  ScriptCaptureOptions capture_;
};

}  // namespace stepwright::cli
