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

/// How it is known that a program reads its files as this room does.
struct Evidence {
  bool judged = false;  ///< A test runs the program itself; else only its source was read.
  std::string test;     ///< Test that judges the files, below the repository; empty if none does.
  std::string package;  ///< Package that the test runs, with its release; empty without a test.
  std::string repository;  ///< Place of the source, if no test judges the files.
};

/// A program for which plans are written or read, as its `target.yaml` says it.
struct TargetData {
  std::string word;               ///< Word of `--to` and `--from`.
  std::string framework;          ///< Name of `kFrameworkNames`; empty: whatever the job names.
  std::vector<std::string> also;  ///< Other frameworks for which its files are written, too.
  /// Variant of its framework (`plan/frameworks/`), if it runs a part of that.
  std::string variant;
  std::string about;    ///< In a person's words.
  std::string reads;    ///< The files that are read; empty: none.
  std::string writes;   ///< The file that is written; empty: none.
  std::string checked;  ///< Programs and releases against which the files were checked.
  std::string assumes;  ///< Assumptions of every file.
  Evidence evidence;
  /// The methods of learning that its written files say.
  std::vector<plan::MethodKind> methods = {plan::MethodKind::kPretrain, plan::MethodKind::kSft};
  bool method_elsewhere = false;  ///< The program that a person starts with the file says it.
  /// True if commands that no mark tells may belong to no trainer at all.
  bool unsure_starts = false;
  /// True if its program is called as those of others, so that a file that a person gives beside
  /// the script must have a mark of it.
  bool file_decides = false;
  int order = 0;                  ///< Targets of a lower order are asked first whose a command is.
  bool sets_environment = false;  ///< True if its file is a script that sets variables.
  bool python_files = false;      ///< True if its own files are Python.
  bool whole_program = false;     ///< A program of Stepwright is written.
  bool functions = false;         ///< Functions of these make configurations (`Given::function`).
  /// Endings of the names of its written files, oldest form first, each with the last release that
  /// reads it; empty: the newest does.
  std::vector<std::pair<std::string, std::string>> endings;
  std::string large_logs;         ///< Whose logs of up to 64 MiB are read; empty: none.
  std::vector<FileMark> marks;    ///< Marks, of which its files have one.
  std::vector<StartMark> starts;  ///< Commands that start it have one of these.
};

/// Returns the data of all `target.yaml`, in no order that means anything.
std::span<const TargetData> target_data();

/// Returns the data of one target. Fails with `kInput` where there is none of this word.
const TargetData& target_data(std::string_view word);

/// True if a file has a mark of a target; with `part` one of the marks that have this name.
bool is_file_of(std::string_view target, const SourceFile& file, std::string_view part = "");

/// True if a command has a mark of a target; with `part` one of the marks that have this name.
bool is_start_of(std::string_view target, Words words, std::string_view part = "");

/// Returns `is_start_of` as a function of the command.
std::function<bool(Words)> starts_of(std::string_view target);

/// Something that no reader knows: a part of a program's name, or of a configuration, and whose it
/// is.
using UnreadMark = std::pair<std::string, std::string>;

/// Whose program a command starts, or whose configuration a file is, where no reader knows it;
/// nullopt: nobody that `unread.yaml` names.
std::optional<std::string> unread_program(std::string_view program);
/// The first word of a command that is the name of a program which no reader knows, and whose it
/// is.
std::optional<UnreadMark> unread_command(Words words);
std::optional<std::string> unread_file(const SourceFile& file);

}  // namespace stepwright::framework_files
