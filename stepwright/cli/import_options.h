#pragma once

#include <string>
#include <vector>

#include "stepwright/cli/capture_options.h"
#include "stepwright/cli/command.h"
#include "stepwright/framework_files/launch_file.h"

namespace stepwright::cli {

/// The files of a framework on the command line, and what a person says beside them: the options
/// that `import` and `check` share.
class ImportOptions {
 public:
  explicit ImportOptions(CLI::App& command);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  /// True if the files are a launch script to capture, and its arguments.
  [[nodiscard]] bool captures() const { return captures_; }

  /// Reads the files, each the console's text of its name where there is one; a record of
  /// `stepwright capture` stands for its commands and the files that these name. Fails as
  /// `import_sources`, and with `--strict` where a setting that may matter was not read. With
  /// `as_it_is` a plan that is not legal is no failure.
  [[nodiscard]] framework_files::ImportedPlan read(const Console& console,
                                                   bool as_it_is = false) const;

 private:
  /// The files, or those that a captured script and records stand for.
  [[nodiscard]] std::vector<launch_scripts::SourceFile> sources(framework_files::Given& given,
                                                                const Console& console) const;

  std::string from_;
  std::vector<std::string> files_;
  framework_files::Given given_;
  bool strict_ = false;
  bool captures_ = false;
  CaptureOptions capture_;
};

}  // namespace stepwright::cli
