#include "stepwright/framework_files/huggingface/hub_script.h"

#include <string_view>
#include <vector>

#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
TransformersScriptRun read_transformers_script(const SourceFile& script, Sources files,
                                               const UserFacts& given,
                                               const StartedProgramRule& program,
                                               StartedTrainingProgram& start,
                                               ImportReport& report) {
  std::vector<SourceFile> scripts;
  // A person starts the first file, if it is a script.
  const bool starts = is_shell_script(files.front());
  if (!starts) scripts.push_back(script);
  std::vector<const SourceFile*> beside;
  for (const SourceFile& file : files) {
    if (is_shell_script(file) || &file == &script) {
      if (starts || &file != &script) scripts.push_back(file);
    } else {
      beside.push_back(&file);
    }
  }
  TransformersScriptRun made{.command = find_started_command(scripts, given, program, report)};
  start.source = made.command.file;
  made.files = sort_transformers_files(beside);
  made.files.name = script.name;
  for (const auto& [name, file] : made.command.written) {
    TransformersProgramFiles& given_files = made.files;
    if (given_files.deepspeed == nullptr && is_deepspeed(file)) given_files.deepspeed = &file;
    if (given_files.accelerate == nullptr && file_matches_target_rules("accelerate", file))
      given_files.accelerate = &file;
  }
  return made;
}

void set_program_settings_file(const ShellWord& path, TransformersScriptRun& script) {
  const std::string name(last_path_part(path.text));
  for (const std::string& one : {name, copied_file_name(name, script.command)}) {
    for (const SourceFile* file : script.files.programs) {
      if (last_path_part(file->name) != one) continue;
      script.files.program = file;
      return;
    }
  }
  const auto written = script.command.written.find(name);
  if (written == script.command.written.end()) {
    fail_for_missing_file(path, script.command);
  }
  script.files.program = &written->second;
}

bool is_yaml_or_json_path(std::string_view text) {
  return text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json");
}

}  // namespace stepwright::framework_files
