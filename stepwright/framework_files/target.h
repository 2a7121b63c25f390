#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/shell/script.h"

namespace stepwright::framework_files {

/// A program for which plans are written and, mostly, read back.
struct LaunchTarget {
  std::string_view word;             ///< Of `--to` and `--from`.
  std::string_view framework = {};   ///< As its data says.
  std::string_view variant = {};     ///< As its data says.
  const TargetData* data = nullptr;  ///< What the `target.yaml` of its folder says.
  /// Writes a plan that the framework runs; null for a target that is only read.
  std::string (*write)(const plan::PlannedJob& planned,
                       const std::vector<std::string>& header) = nullptr;
  /// Reads files; null for a target that is only written.
  void (*read)(std::span<const launch_scripts::SourceFile> files, const Given& given,
               Draft& draft) = nullptr;
  /// True if a file is of this program where no mark of the data says so; null: marks say all.
  bool (*recognises)(const launch_scripts::SourceFile& file) = nullptr;
  /// True if a command starts this program where no mark says so; null: marks say all.
  bool (*starts)(std::span<const launch_scripts::ShellWord> words) = nullptr;
};

/// All targets, in the order in which they are listed.
std::span<const LaunchTarget> launch_targets();

/// True if a file is of a target, by its content.
bool recognises(const LaunchTarget& target, const launch_scripts::SourceFile& file);

/// True if scripts start the program of a target.
bool has_starts(const LaunchTarget& target);

/// True if a command of a script starts the program of a target.
bool starts(const LaunchTarget& target, std::span<const launch_scripts::ShellWord> words);

}  // namespace stepwright::framework_files
