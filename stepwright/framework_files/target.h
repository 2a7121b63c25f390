#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {

/// A program for which plans are written and, in most cases, read back.
struct LaunchTarget {
  std::string_view word;             ///< Word of the target in `--to` and `--from`.
  std::string_view framework = {};   ///< Framework of the target, from its `target.yaml`.
  std::string_view variant = {};     ///< Variant of the framework, from its `target.yaml`.
  const TargetData* data = nullptr;  ///< Contents of the `target.yaml` in the target's folder.
  /// Writes the target's file; null for a target that is only read.
  TargetWriter* write = nullptr;
  /// Reads the target's files; null for a target that is only written.
  TargetReader* read = nullptr;
  /// Names words that a person must add to a written file; null: it starts without them.
  TargetLacks* lacks = nullptr;
  /// Recognises files by code, in addition to the marks in `data`; null: marks are enough.
  TargetRecogniser* recognises = nullptr;
  /// Recognises commands by code, in addition to the marks in `data`; null: marks are enough.
  TargetStarts* starts = nullptr;
};

/// Returns all targets, in the order in which they are listed.
std::span<const LaunchTarget> launch_targets();

/// True if the files of a target describe plans of a framework.
bool target_writes_framework(const LaunchTarget& target, std::string_view framework);

/// True if a file belongs to a target, by its content.
bool is_target_file(const LaunchTarget& target, const SourceFile& file);

/// True if shell scripts start the program of a target.
bool starts_target_program(const LaunchTarget& target);

/// True if a command of a script starts the program of a target.
bool starts(const LaunchTarget& target, Words words);

}  // namespace stepwright::framework_files
