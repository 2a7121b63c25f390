#include "stepwright/cli/import_options.h"

#include <CLI/CLI.hpp>

#include "stepwright/capture/launch_record.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/plan/frameworks/file_words.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

constexpr std::int64_t kMostCommands = 1'000'000;

}  // namespace

ImportOptions::ImportOptions(CLI::App& command) {
  command
      .add_option("--from", request_.source, "Whose configuration it is; without, its content says")
      ->transform(one_of_words_validator(
          plan::add_framework_names(framework_files::import_target_names())));
  reads(command.add_option("FILE", files_, "Scripts and configurations that describe one job"),
        OptionInputKind::kDocument)
      ->required()
      ->type_name("FILE");
  reads(command.add_option("--model", request_.given.model,
                           "What is trained, where the files do not say: a name (stepwright list\n"
                           "models), a config.json, a model file"))
      ->type_name("NAME");
  reads(command.add_option("--cluster", request_.given.cluster,
                           "What it runs on: a profile (stepwright list profiles), also as\n"
                           "PROFILE:NODES, or a file"))
      ->type_name("NAME");
  command.add_option("--nodes", request_.given.nodes, "Of the job, whatever the files say")
      ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  command.add_option("--gpus", request_.given.devices, "Of the whole job, whatever the files say")
      ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  command
      .add_option("--set", request_.given.settings,
                  "In the place of what the files say: a variable of a script, a dotted\n"
                  "path of a configuration")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--function", request_.given.function,
                  "Of a Python file: the function that makes the configuration,\n"
                  "or a call of it, NAME(PARAMETER=VALUE)")
      ->type_name("NAME");
  command
      .add_option("--command", request_.given.command,
                  "Of a script that starts several: the number of the one to read")
      ->check(runtime::whole_number_validator(1, kMostCommands));
  command
      .add_option("--batch", request_.given.batch,
                  "Of one step, where the files do not say: SEQUENCESxLENGTH, as 512x8192,\n"
                  "or a mapping as in a job, also with `lengths` of documents")
      ->type_name("BATCH");
  CLI::Option* captures =
      command.add_flag("--capture", captures_,
                       "FILE... is a launch script with its arguments, behind --: run it with\n"
                       "stand-ins for its launchers (docs/capture.md) and read what it starts");
  capture_.add_options_to_command(command, captures);
  command.add_flag("--strict", request_.strict,
                   "Fail where something was not read that may change the prediction");
}

answers::ImportRequest ImportOptions::import_request_from_options(const Console& console) const {
  answers::ImportRequest request = request_;
  if (captures_) {
    const auto captured = capture_.capture_launch_script(files_, request.given.nodes, console);
    request.files = {{.name = files_.back(), .text = capture::capture_record_json(captured)}};
    return request;
  }
  for (const std::string& file : files_)
    request.files.push_back(read_file_or_console_text(file, console));
  return request;
}

}  // namespace stepwright::cli
