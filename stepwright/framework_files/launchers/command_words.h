#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Fails with `kInput` for a word after the program that Hydra cannot read as NAME=VALUE, ~NAME or
/// an option (facebookresearch/hydra hydra/grammar/OverrideParser.g4).
void check_hydra_words(const StartedCommand& command);

/// An argument of a command: `--name value` or `--name=value`.
struct CommandOption {
  std::string name;  ///< Name as written, without leading dashes.
  ShellWord value;   ///< Value of the argument; "true" if no value follows.
};

/// Returns the arguments among words, in order; other words are ignored.
std::vector<CommandOption> command_options(Words words);

/// Returns the file whose name is the last part of a path, among the given files or else those that
/// a command's script writes; null if there is none. The pointer is valid as long as both.
const SourceFile* file_named(std::string_view name, Sources files, const StartedCommand& command);

/// Fails with `kInput` because a word of a command names a file that was not given.
[[noreturn]] void fail_without_file(const ShellWord& path, const StartedCommand& command);

/// Files separated into shell scripts and all others.
struct SplitScriptFiles {
  std::vector<SourceFile> scripts, others;
};
SplitScriptFiles parted_files(Sources files);

/// Returns the program that a command starts, without its environment variables.
ProgramStart program_start(const StartedCommand& command);

}  // namespace stepwright::framework_files
