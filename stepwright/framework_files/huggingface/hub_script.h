#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// A script that starts a program on transformers, with the files that were given beside it.
struct HubScript {
  StartedCommand command;
  /// `program`: what the command names; until then what was given, or nothing. A file that the
  /// script writes is a part of `command`.
  HubFiles files;
};

/// Reads a script and what it starts; of `files` those beside it. Configurations of Accelerate and
/// DeepSpeed that it writes are there, too. Fails as `started_command` and `sorted_hub_files`.
HubScript read_hub_script(const SourceFile& script, Sources files, const Given& given,
                          const StartedProgram& program, ProgramStart& start, ImportReport& report);

/// Takes the file that a word of the command names as what the program is told: among those that
/// were given, or as the script writes it. Fails with `kInput` where it is neither.
void take_named_settings(const ShellWord& path, HubScript& script);

/// Whether a text is the path of a file of settings.
bool names_settings(std::string_view text);

}  // namespace stepwright::framework_files
