#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// A script that starts a program built on transformers, and the files given with it.
struct HubScript {
  StartedCommand command;
  /// Sorted files. `program` is the file that the command names; until it is known, the given one,
  /// or null. A file that the script writes belongs to `command`.
  HubFiles files;
};

/// Reads a script and the command that it starts; `files` are those given with it. Configurations
/// of Accelerate and DeepSpeed that the script writes are added. Fails like `started_command` and
/// `sorted_hub_files`.
HubScript read_hub_script(const SourceFile& script, Sources files, const UserFacts& given,
                          const StartedProgram& program, ProgramStart& start, ImportReport& report);

/// Makes the file that a word of the command names the program's settings: a given file, or one
/// that the script writes. Fails with `kInput` if it is neither.
void take_named_settings(const ShellWord& path, HubScript& script);

/// True if a text is the path of a settings file.
bool names_settings(std::string_view text);

}  // namespace stepwright::framework_files
