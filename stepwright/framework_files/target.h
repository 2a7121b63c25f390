#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {

/// A program for which plans are written and, mostly, read back.
struct LaunchTarget {
  std::string_view word;             ///< Word of `--to` and `--from`.
  std::string_view framework = {};   ///< As its data says.
  std::string_view variant = {};     ///< As its data says.
  const TargetData* data = nullptr;  ///< Data of the `target.yaml` of its folder.
  TargetWriter* write = nullptr;     ///< Null for a target that is only read.
  TargetReader* read = nullptr;      ///< Null for a target that is only written.
  TargetLacks* lacks = nullptr;      ///< Null: what is written starts by itself.
  /// Recognises files that no mark of the data tells; null: marks say all.
  TargetRecogniser* recognises = nullptr;
  /// Recognises commands that no mark of the data tells; null: marks say all.
  TargetStarts* starts = nullptr;
};

/// All targets, in the order in which they are listed.
std::span<const LaunchTarget> launch_targets();

/// True if the files of a target say plans of a framework.
bool says_plans_of(const LaunchTarget& target, std::string_view framework);

/// True if a file is of a target, by its content.
bool recognises(const LaunchTarget& target, const SourceFile& file);

/// True if scripts start the program of a target.
bool has_starts(const LaunchTarget& target);

/// True if a command of a script starts the program of a target.
bool starts(const LaunchTarget& target, Words words);

}  // namespace stepwright::framework_files
