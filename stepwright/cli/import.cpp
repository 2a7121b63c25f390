#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/import_options.h"
#include "stepwright/cli/import_text.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/framework_files/import_json.h"
#include "stepwright/plan/files.h"

namespace stepwright::cli {
namespace {

class Import : public Subcommand {
 public:
  explicit Import(CLI::App& program)
      : Subcommand(program, "import", "Make a plan from the configuration of a framework",
                   "  stepwright import train.sh --cluster dgx-h100 -o plan.yaml\n"
                   "  stepwright import --from deepspeed ds.json --model llama-3-8b --cluster "
                   "dgx-h100:2 --batch 256x8192\n"
                   "  stepwright tune job.yaml --against plan.yaml") {
    mark_option_as_output(app().add_option("-o,--output", output_, "Write the plan to FILE"))
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    const framework_files::ImportedPlan imported =
        answers::import_framework_plan(files_.import_request_from_options(console));
    if (wants_json_output()) {
      print_json(console.out, framework_files::imported_plan_json(imported));
    } else if (output_.empty()) {
      console.out << text_of(imported);
    } else {
      console.out << import_report_text(imported.report);
    }
    if (output_.empty()) return;
    write_file(output_, [&](std::ostream& out) { out << text_of(imported); });
    console.log.info(fmt::format("wrote the plan to {}", output_));
  }

 private:
  /// Returns the import report followed by the plan.
  static std::string text_of(const framework_files::ImportedPlan& imported) {
    std::string text = fmt::format("# imported from a configuration of {}\n#\n", imported.target);
    std::istringstream lines(import_report_text(imported.report));
    for (std::string line; std::getline(lines, line);) {
      text += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    }
    for (const std::string& note : imported.planned.job.notes) text += fmt::format("# {}\n", note);
    return text + plan::plan_yaml(imported.planned);
  }

  ImportOptions files_{app()};
  std::string output_;
};

}  // namespace

std::unique_ptr<Subcommand> import_command(CLI::App& program) {
  return std::make_unique<Import>(program);
}

}  // namespace stepwright::cli
