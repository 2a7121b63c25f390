#pragma once

#include <string>
#include <vector>

#include "stepwright/answers/imported_files.h"
#include "stepwright/cli/capture_options.h"
#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// The files of a framework on the command line, and what a person says beside them: the options
/// that `import` and `check` share.
class ImportOptions {
 public:
  explicit ImportOptions(CLI::App& command);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// The files, each the console's text of its name where there is one, with what is said beside
  /// them. A script that is captured runs here, and its record stands for it. Fails as
  /// `CaptureOptions::capture`.
  [[nodiscard]] answers::ImportRequest request(const Console& console) const;

 private:
  answers::ImportRequest request_;
  std::vector<std::string> files_;
  bool captures_ = false;
  CaptureOptions capture_;
};

}  // namespace stepwright::cli
