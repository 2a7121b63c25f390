#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/recognition/marks.h"
#include "stepwright/plan/training_method.h"

namespace stepwright::framework_files {

/// Evidence that a program reads its files as this code does.
struct Evidence {
  /// True if a test runs the program itself; false if only its source was read.
  bool judged = false;
  std::string test;        ///< Test that checks the files, relative to the repository; empty: none.
  std::string package;     ///< Package and release that the test runs; empty without a test.
  std::string repository;  ///< Repository of the source, if no test checks the files.
};

/// A program for which plans are written or read, as described by its `target.yaml`.
struct TargetData {
  std::string word;  ///< Word of `--to` and `--from`.
  /// One of `kFrameworkNames`; empty: the framework that the job names.
  std::string framework;
  std::vector<std::string> also;  ///< Other frameworks that can run its written files.
  /// Variant of the framework (`plan/frameworks/`) if the program runs only that; empty: none.
  std::string variant;
  std::string about;    ///< Description of the target in a person's words.
  std::string reads;    ///< Description of the files that are read; empty: none are.
  std::string writes;   ///< Description of the file that is written; empty: none is.
  std::string checked;  ///< Programs and releases against which the files were checked.
  std::string assumes;  ///< Assumptions that hold for every file.
  Evidence evidence;
  /// Training methods that its written files can express.
  std::vector<plan::MethodKind> methods = {plan::MethodKind::kPretrain, plan::MethodKind::kSft};
  /// True if the training method is chosen by the program that a person starts with the file.
  bool method_elsewhere = false;
  /// True if commands without a mark can belong to programs that do not train.
  bool unsure_starts = false;
  /// True if its program has the same name as other programs, so that a file given with the script
  /// must have a mark of this one.
  bool file_decides = false;
  /// When several targets recognise a command, the one with the lowest order reads it.
  int order = 0;
  /// True if its written file is a script that sets environment variables.
  bool sets_environment = false;
  bool python_files = false;   ///< True if the program's own configuration files are Python.
  bool whole_program = false;  ///< True if a complete program of Stepwright is written.
  /// True if Python functions in its files return configurations (`UserFacts::function`).
  bool functions = false;
  /// Endings of the names of its written files, oldest form first, each with the last release that
  /// reads it; an empty release means the newest.
  std::vector<std::pair<std::string, std::string>> endings;
  std::string large_logs;         ///< Program whose logs of up to 64 MiB are read; empty: none.
  std::vector<FileMark> marks;    ///< Marks of its files; a file must have at least one.
  std::vector<StartMark> starts;  ///< Marks of its commands; a command must have at least one.
};

/// Returns the data of all `target.yaml` files, in no particular order.
std::span<const TargetData> target_data();

/// Returns the data of the target with this word. Fails with `kInput` if there is none.
const TargetData& target_data(std::string_view word);

/// True if a file has a mark of a target; with `part`, a mark of that name.
bool file_has_mark(std::string_view target, const SourceFile& file, std::string_view part = "");

/// True if a command has a mark of a target; with `part`, a mark of that name.
bool command_has_mark(std::string_view target, Words words, std::string_view part = "");

/// Returns a predicate that is true for a command with a start mark of this target.
std::function<bool(Words)> starts_of(std::string_view target);

/// Something that no reader supports: the part of a program's name or configuration that identifies
/// it, and the framework that it belongs to.
using UnreadMark = std::pair<std::string, std::string>;

/// Returns the framework of a program that no reader supports; nullopt if `unread.yaml` does not
/// list the program.
std::optional<std::string> unread_program(std::string_view program);
/// Returns the first word of a command that names a program without a reader, with the program's
/// framework; nullopt if there is none.
std::optional<UnreadMark> unread_command(Words words);
std::optional<std::string> unread_file(const SourceFile& file);

}  // namespace stepwright::framework_files
