#include "stepwright/cli/import_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "stepwright/capture/launch_record.h"
#include "stepwright/capture/record_sources.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/plan_file.h"

namespace stepwright::cli {

ImportOptions::ImportOptions(CLI::App& command) {
  command.add_option("--from", from_, "Whose configuration it is; without, its content says")
      ->check(one_of(framework_files::import_words()));
  command.add_option("FILE", files_, "Scripts and configurations that describe one job")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--model", given_.model,
                  "What is trained, where the files do not say: a name (stepwright list\n"
                  "models), a config.json, a model file")
      ->type_name("NAME");
  command
      .add_option("--cluster", given_.cluster,
                  "What it runs on: a profile (stepwright list profiles), also as\n"
                  "PROFILE:NODES, or a file")
      ->type_name("NAME");
  command.add_option("--nodes", given_.nodes, "Of the job, whatever the files say");
  command.add_option("--gpus", given_.devices, "Of the whole job, whatever the files say");
  command
      .add_option("--set", given_.settings,
                  "In the place of what the files say: a variable of a script, a dotted\n"
                  "path of a configuration")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--function", given_.function,
                  "Of a Python file: the function that makes the configuration,\n"
                  "or a call of it, NAME(PARAMETER=VALUE)")
      ->type_name("NAME");
  command
      .add_option("--command", given_.command,
                  "Of a script that starts several: the number of the one to read")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--batch", given_.batch,
                  "Of one step, where the files do not say: SEQUENCESxLENGTH, as 512x8192,\n"
                  "or a mapping as in a job, also with `lengths` of documents")
      ->type_name("BATCH");
  command.add_flag("--capture", captures_,
                   "FILE... is a launch script with its arguments, behind --: run it with\n"
                   "stand-ins for its launchers (docs/capture.md) and read what it starts");
  capture_.add_to(command);
  command.add_flag("--strict", strict_,
                   "Fail where something was not read that may change the prediction");
}

std::vector<launch_scripts::SourceFile> ImportOptions::sources(framework_files::Given& given,
                                                               const Console& console) const {
  const auto take = [&](const capture::Captured& captured, const std::string& name) {
    const auto taken = capture::record_sources(captured, given.command, name);
    given.command.reset();  // of the record, whose commands are one script now
    return taken;
  };
  if (captures_) return take(capture_.capture(files_, given.nodes, console), files_.back());
  std::vector<launch_scripts::SourceFile> sources;
  for (const std::string& file : files_) {
    std::string text = file_text(file, console);
    if (capture::is_launch_record(text)) {
      const auto taken = take(capture::read_launch(text, file), file);
      sources.insert(sources.end(), taken.begin(), taken.end());
    } else {
      sources.push_back({file, std::move(text)});
    }
  }
  return sources;
}

framework_files::ImportedPlan ImportOptions::read(const Console& console, bool as_it_is) const {
  framework_files::Given given = given_;
  framework_files::ImportedPlan imported =
      framework_files::import_sources(from_, sources(given, console), given, as_it_is);
  if (strict_) framework_files::check_all_read(imported.report);
  return imported;
}

}  // namespace stepwright::cli
