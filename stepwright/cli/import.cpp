#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/files.h"

namespace stepwright {
namespace {

class Import : public Command {
 public:
  explicit Import(CLI::App& program)
      : Command(program, "import", "Make a plan from the configuration of a framework",
                "  stepwright import --from megatron train.sh --cluster dgx-h100 -o plan.yaml\n"
                "  stepwright import --from deepspeed ds.json --model llama-3-8b --cluster "
                "dgx-h100:2 --batch 256x8192\n"
                "  stepwright tune job.yaml --against plan.yaml") {
    app()
        .add_option("--from", from_, "Whose configuration it is")
        ->required()
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
    app().add_option("--nodes", given_.nodes, "Of the cluster, where the files do not say");
    app()
        .add_option("--batch", given_.batch,
                    "Of one step, where the files do not say: SEQUENCESxLENGTH, as 512x8192")
        ->type_name("BATCH");
    app().add_option("-o,--output", output_, "Write the plan to FILE")->type_name("FILE");
  }

  void run(const Console& console) override {
    for (const std::string& file : files_) {
      if (!output_.empty()) check_output(output_, file);
    }
    const std::vector<std::filesystem::path> paths(files_.begin(), files_.end());
    const PlannedJob planned = import_plan(from_, paths, given_);
    for (const std::string& note : planned.job.notes) console.log.info(note);
    if (json()) {
      print_json(console.out, {{"plan", plan_json(planned)}, {"notes", planned.job.notes}});
    } else if (output_.empty()) {
      console.out << text_of(planned);
    }
    if (output_.empty()) return;
    write_file(output_, [&](std::ostream& out) { out << text_of(planned); });
    console.log.info(fmt::format("wrote the plan to {}", output_));
  }

 private:
  [[nodiscard]] std::string text_of(const PlannedJob& planned) const {
    std::string text = fmt::format("# imported from a configuration of {}\n", from_);
    for (const std::string& note : planned.job.notes) text += fmt::format("# {}\n", note);
    return text + plan_yaml(planned);
  }

  std::string from_;
  std::vector<std::string> files_;
  Given given_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> import_command(CLI::App& program) {
  return std::make_unique<Import>(program);
}

}  // namespace stepwright
