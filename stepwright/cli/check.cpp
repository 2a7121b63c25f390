#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/answers/check_answer.h"
#include "stepwright/cli/check_text.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/import_options.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/run_comparison_text.h"
#include "stepwright/core/error.h"

namespace stepwright::cli {
namespace {

class Check : public Subcommand {
 public:
  explicit Check(CLI::App& program)
      : Subcommand(program, "check",
                   "Tell before a job is queued whether it starts, fits, and is fast",
                   "  stepwright check train.sh --cluster dgx-h100\n"
                   "  stepwright check plan.yaml --gain 5%\n"
                   "  stepwright check args.json ds.json --model llama-3-8b --cluster dgx-h100:2 "
                   "--json") {
    app()
        .add_option("--gain", gain_,
                    "Fail if changes of the plan would save this share of a step or more:\n"
                    "5% or 0.05")
        ->type_name("SHARE");
    app()
        .add_option("--log", logs_,
                    "Logs of a run of it (docs/logs.md), to compare what it sent and how long a\n"
                    "step took")
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    const answers::JobCheckAnswer answer =
        answers::check_job_before_queueing({.job = files_.import_request_from_options(console),
                                            .gain = gain_,
                                            .logs = logs_,
                                            .reserve = reserve_.given()});
    if (wants_json_output()) {
      print_json(console.out, answers::check_command_answer_json(answer));
    } else {
      console.out << job_check_text(answer.check);
      if (answer.run) {
        console.out << '\n' << run_plan_comparison_text(*answer.run, *answer.check.prediction);
      }
    }
    if (!answer.fault.empty()) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", files_.files().front(), answer.fault));
    }
  }

 private:
  ImportOptions files_{app()};
  std::string gain_;
  std::vector<std::string> logs_;
  MemoryHeadroom reserve_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> check_command(CLI::App& program) {
  return std::make_unique<Check>(program);
}

}  // namespace stepwright::cli
