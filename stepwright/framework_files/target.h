#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// A program for which plans are written and, mostly, read back.
struct LaunchTarget {
  std::string_view word;          ///< Of `--to` and `--from`.
  std::string_view framework;     ///< Of `kFrameworkNames`; empty: whatever the job names.
  std::string_view about;         ///< In a person's words.
  std::string_view checked;       ///< What the files were checked against.
  std::string_view assumes;       ///< What every file assumes.
  bool sets_environment = false;  ///< Its file is a script that sets variables.
  /// The variant of its framework that its program is (`plan/frameworks/`), where it runs some of
  /// what that runs: search, answers, nearest plans and exports read the same table.
  std::string_view variant = {};
  /// Writes a plan that the framework runs; nothing for a target that is only read.
  std::string (*write)(const plan::PlannedJob& planned,
                       const std::vector<std::string>& header) = nullptr;
  /// Reads files; nothing for a target that is only written.
  void (*read)(std::span<const launch_scripts::SourceFile> files, const Given& given,
               Draft& draft) = nullptr;
  /// Whether a file is of this program, by its content; the first of the table that says so has it.
  bool (*recognises)(const launch_scripts::SourceFile& file) = nullptr;
  /// Whether a command of a script starts its program; nothing for one whose files are no scripts.
  bool (*starts)(std::span<const launch_scripts::ShellWord> words) = nullptr;
};

/// All targets, in the order in which they are listed.
std::span<const LaunchTarget> launch_targets();

}  // namespace stepwright::framework_files
