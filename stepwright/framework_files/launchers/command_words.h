#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Fails with `kInput` on a word behind the program that Hydra cannot read as NAME=VALUE, ~NAME or
/// an option: facebookresearch/hydra hydra/grammar/OverrideParser.g4.
void check_hydra_words(const StartedCommand& command);

/// An argument of a command: `--name value` or `--name=value`.
struct CommandOption {
  std::string name;  ///< As it was written, without the dashes in front.
  ShellWord value;   ///< "true" where none follows.
};

/// The arguments among words, in their order; other words are passed over.
std::vector<CommandOption> command_options(Words words);

/// The file of that name, the last part of a path, among those that are given or else written by a
/// command's script; nothing where there is none. Lives as long as both.
const SourceFile* file_named(std::string_view name, Sources files, const StartedCommand& command);

/// Fails with `kInput` for a file that a word of a command names and that nobody gave.
[[noreturn]] void fail_without_file(const ShellWord& path, const StartedCommand& command);

/// Parts the scripts of a shell from all other files.
struct PartedFiles {
  std::vector<SourceFile> scripts, others;
};
PartedFiles parted_files(Sources files);

/// The program that a command starts, without what it sees.
ProgramStart program_start(const StartedCommand& command);

}  // namespace stepwright::framework_files
