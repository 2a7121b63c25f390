#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/import_text.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/framework_files/import_json.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/files.h"

namespace stepwright {
namespace {

class Import : public Command {
 public:
  explicit Import(CLI::App& program)
      : Command(program, "import", "Make a plan from the configuration of a framework",
                "  stepwright import train.sh --cluster dgx-h100 -o plan.yaml\n"
                "  stepwright import --from deepspeed ds.json --model llama-3-8b --cluster "
                "dgx-h100:2 --batch 256x8192\n"
                "  stepwright tune job.yaml --against plan.yaml") {
    app()
        .add_option("--from", from_, "Whose configuration it is; without, its content says")
        ->check(one_of(import_words()));
    app()
        .add_option("FILE", files_, "Scripts and configurations that describe one job")
        ->required()
        ->type_name("FILE");
    app()
        .add_option("--model", given_.model,
                    "What is trained, where the files do not say: a name (stepwright list\n"
                    "models), a config.json, a model file")
        ->type_name("NAME");
    app()
        .add_option("--cluster", given_.cluster,
                    "What it runs on: a profile (stepwright list profiles), also as\n"
                    "PROFILE:NODES, or a file")
        ->type_name("NAME");
    app().add_option("--nodes", given_.nodes, "Of the job, whatever the files say");
    app().add_option("--gpus", given_.devices, "Of the whole job, whatever the files say");
    app()
        .add_option("--set", given_.settings,
                    "In the place of what the files say: a variable of a script, a dotted\n"
                    "path of a configuration")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app()
        .add_option("--function", given_.function,
                    "Of a Python file: the function that makes the configuration")
        ->type_name("NAME");
    app()
        .add_option("--command", given_.command,
                    "Of a script that starts several: the number of the one to read")
        ->check(CLI::PositiveNumber);
    app()
        .add_option("--batch", given_.batch,
                    "Of one step, where the files do not say: SEQUENCESxLENGTH, as 512x8192")
        ->type_name("BATCH");
    app().add_flag("--strict", strict_,
                   "Fail where something was not read that may change the prediction");
    app().add_option("-o,--output", output_, "Write the plan to FILE")->type_name("FILE");
  }

  void run(const Console& console) override {
    for (const std::string& file : files_) {
      if (!output_.empty()) check_output(output_, file);
    }
    const std::vector<std::filesystem::path> paths(files_.begin(), files_.end());
    const ImportedPlan imported = import_plan(from_, paths, given_);
    if (strict_) check_all_read(imported.report);
    if (json()) {
      print_json(console.out, import_json(imported));
    } else if (output_.empty()) {
      console.out << text_of(imported);
    } else {
      console.out << import_text(imported.report);
    }
    if (output_.empty()) return;
    write_file(output_, [&](std::ostream& out) { out << text_of(imported); });
    console.log.info(fmt::format("wrote the plan to {}", output_));
  }

 private:
  /// The plan below what was read and what not.
  static std::string text_of(const ImportedPlan& imported) {
    std::string text = fmt::format("# imported from a configuration of {}\n#\n", imported.target);
    std::istringstream lines(import_text(imported.report));
    for (std::string line; std::getline(lines, line);) {
      text += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    }
    for (const std::string& note : imported.planned.job.notes) text += fmt::format("# {}\n", note);
    return text + plan_yaml(imported.planned);
  }

  std::string from_;
  std::vector<std::string> files_;
  Given given_;
  bool strict_ = false;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> import_command(CLI::App& program) {
  return std::make_unique<Import>(program);
}

}  // namespace stepwright
