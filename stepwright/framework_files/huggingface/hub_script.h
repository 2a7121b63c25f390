#pragma once

#include <span>
#include <string_view>

#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// The command with which a shell script starts a transformers program, and the files given with
/// the script.
struct TransformersScriptRun {
  StartedCommand command;
  /// Files given with the script, sorted by kind. `program` is the settings file that the command
  /// names, or, as long as that is unknown, the first one that was given. Files that the script
  /// itself writes are owned by `command`.
  TransformersProgramFiles files;
};

/// Reads a shell script that starts a transformers program, and sorts the files given with it;
/// Accelerate and DeepSpeed configurations that the script writes are included. Fails with `kInput`
/// if the script does not start the program, or if two files are of the same kind.
TransformersScriptRun read_transformers_script(const SourceFile& script, Sources files,
                                               const UserFacts& given,
                                               const StartedProgramRule& program,
                                               StartedTrainingProgram& start, ImportReport& report);

/// Sets `files.program` to the file with this path in the command, given by the user or written by
/// the script. Fails with `kInput` if it is neither.
void set_program_settings_file(const ShellWord& path, TransformersScriptRun& script);

/// True if a text is the path of a YAML or JSON file, by its ending.
bool is_yaml_or_json_path(std::string_view text);

}  // namespace stepwright::framework_files
