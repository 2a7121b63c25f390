#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/answers/comparison_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/run_comparison_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::cli {
namespace {

class Compare : public Subcommand {
 public:
  explicit Compare(CLI::App& program)
      : Subcommand(program, "compare", "Compare what a plan should send with what a run sent",
                   "  stepwright train plan.yaml --data text.txt --ledger sent.json\n"
                   "  stepwright compare plan.yaml --log sent.json\n"
                   "  stepwright compare plan.yaml --log trace.*.json.gz") {
    reads(app().add_option("PLAN", plan_, "Plan file, as `stepwright tune -o` writes it"),
          OptionInputKind::kDocument)
        ->required();
    reads(app().add_option(
              "--log", logs_,
              "Ledger that `stepwright train --ledger` wrote, or logs of any program in\n"
              "docs/logs.md, best of all ranks"))
        ->required()
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    const answers::LogComparisonAnswer answer =
        answers::compare_plan_with_logs(load_settled_plan(plan_, console), logs_);
    if (report_.wanted())
      report_.write_report_page(console, answers::log_comparison_report(answer));
    if (wants_json_output()) {
      print_json(console.out, answers::log_comparison_answer_json(answer));
    } else {
      console.out << run_plan_comparison_text(answer.run, answer.prediction);
    }
    if (!answer.fault.empty()) throw Error(ErrorKind::kRuntime, answer.fault);
  }

 private:
  std::string plan_;
  std::vector<std::string> logs_;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> compare_command(CLI::App& program) {
  return std::make_unique<Compare>(program);
}

}  // namespace stepwright::cli
