#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Fails with `kInput` if a command line of a Hydra program has a word that Hydra cannot parse:
/// neither NAME=VALUE, ~NAME nor an option (facebookresearch/hydra
/// hydra/grammar/OverrideParser.g4).
void check_hydra_words(const StartedCommand& command);
/// Fails with `kUnsupported` if a command has an option that Hydra does not have, as programs on
/// other parsers do.
void check_hydra_options(const StartedCommand& command);

/// An argument of a command: `--name value` or `--name=value`.
struct CommandOption {
  std::string name;  ///< Name as written, without leading dashes.
  ShellWord value;   ///< Value of the argument; "true" if no value follows.
};

/// Returns the arguments `--name value` and `--name=value` among the words of a command, in order;
/// other words are ignored.
std::vector<CommandOption> command_options(Words words);

/// Returns the name (without folders) of the file that the command's script copies to the file
/// `name`; `name` itself if the script makes no such copy.
std::string copied_file_name(std::string_view name, const StartedCommand& command);

/// Returns the file with this name (without folders): one of `files`, else one that the command's
/// script writes; null if there is none. The pointer is valid as long as `files` and `command`.
const SourceFile* find_command_file(std::string_view name, Sources files,
                                    const StartedCommand& command);

/// Fails with `kInput`: the command names the file `path`, which the user did not give.
[[noreturn]] void fail_for_missing_file(const ShellWord& path, const StartedCommand& command);

/// Given files, separated into shell scripts and all others.
struct SplitScriptFiles {
  std::vector<SourceFile> scripts, others;
};
SplitScriptFiles split_script_files(Sources files);

/// Returns the program that a command starts and the file of the command; environment variables and
/// launchers stay empty.
StartedTrainingProgram training_program_started_by_command(const StartedCommand& command);

}  // namespace stepwright::framework_files
