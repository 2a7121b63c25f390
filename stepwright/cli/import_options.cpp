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
      .add_option("--from", request_.source,
                  "Framework of the configuration; by default recognised by the content")
      ->transform(one_of_words_validator(
          plan::add_framework_names(framework_files::import_target_names())));
  reads(command.add_option("FILE", files_, "Scripts and configurations that describe one job"),
        OptionInputKind::kDocument)
      ->required()
      ->type_name("FILE");
  reads(command.add_option("--model", request_.given.model,
                           "Model, if the files do not state it: a name (stepwright list\nmodels), "
                           "a config.json, a model file"))
      ->type_name("NAME");
  reads(command.add_option(
            "--cluster", request_.given.cluster,
            "Cluster: a profile (stepwright list profiles), also as\nPROFILE:NODES, or a file"))
      ->type_name("NAME");
  command
      .add_option("--nodes", request_.given.nodes,
                  "Number of nodes of the job; overrides the files")
      ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  command
      .add_option("--gpus", request_.given.devices,
                  "Number of GPUs of the whole job; overrides the files")
      ->check(runtime::whole_number_validator(1, cluster::kMaxClusterDevices));
  command
      .add_option("--set", request_.given.settings,
                  "Value that overrides the files: of a variable of a script, or of a dotted\npath "
                  "of a configuration")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--function", request_.given.function,
                  "For a Python file: the function that makes the configuration,\nor a call of it, "
                  "NAME(PARAMETER=VALUE)")
      ->type_name("NAME");
  command
      .add_option("--command", request_.given.command,
                  "Number of the command to read, if a script starts several")
      ->check(runtime::whole_number_validator(1, kMostCommands));
  command
      .add_option("--batch", request_.given.batch,
                  "Batch of one step, if the files do not state it: SEQUENCESxLENGTH, as "
                  "512x8192,\nor a mapping as in a job, also with `lengths` of documents")
      ->type_name("BATCH");
  CLI::Option* captures =
      command.add_flag("--capture", captures_,
                       "FILE... is a launch script with its arguments, behind --: run it with\n"
                       "stand-ins for its launchers (docs/capture.md) and read what it starts");
  capture_.add_options_to_command(command, captures);
  command.add_flag("--strict", request_.strict,
                   "Fail if a setting was not read that may change the prediction");
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
