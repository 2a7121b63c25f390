#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {

/// A target of `export --to` and `import --from`: a framework or launcher, with the functions that
/// write and read its files.
struct LaunchTarget {
  std::string_view word;  ///< Name of the target, as `--to` and `--from` accept it.
  /// Framework that runs the target's files; empty: any, which the job names.
  std::string_view framework = {};
  /// Variant of the framework, a fork or a program built on it; empty: none.
  std::string_view variant = {};
  /// Contents of the target's `target.yaml`: descriptions, and rules to recognise files and
  /// commands.
  const LaunchTargetDescription* data = nullptr;
  /// Writes a plan's file; null if the target is only read.
  TargetWriter* write = nullptr;
  /// Reads a plan from files; null if the target is only written.
  TargetReader* read = nullptr;
  /// Returns what the user must fill in before a written file starts; null: written files are
  /// complete.
  TargetMissingText* lacks = nullptr;
  /// Recognises the target's files, in addition to the rules in `data->marks`; null: the rules are
  /// enough.
  TargetRecogniser* recognises = nullptr;
  /// Recognises commands that start the target's program, in addition to the rules in
  /// `data->starts`; null: the rules are enough.
  TargetStarts* starts = nullptr;
};

/// Returns all targets (frameworks and launchers whose files are read or written), in the order in
/// which messages list them.
std::span<const LaunchTarget> launch_targets();

/// True if the files of a target can be run by this framework.
bool can_framework_run_target(const LaunchTarget& target, std::string_view framework);

/// True if a file's content shows that it is a file of this target (framework or launcher).
bool is_target_file(const LaunchTarget& target, const SourceFile& file);

/// True if the program of this target can be recognised in shell scripts that start it.
bool can_recognise_target_command(const LaunchTarget& target);

/// True if a shell command starts the program of this target (framework or launcher).
bool command_starts_target_program(const LaunchTarget& target, Words words);

}  // namespace stepwright::framework_files
