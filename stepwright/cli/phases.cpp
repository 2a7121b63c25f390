#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "stepwright/answers/phases_answer.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/phases_text.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

class PhasesCommand : public Subcommand {
 public:
  explicit PhasesCommand(CLI::App& program)
      : Subcommand(program, "phases",
                   "Predict how long the phases of a preference or reinforcement step take",
                   "  stepwright phases job.yaml\n"
                   "  stepwright phases plan.yaml --json") {
    reads(app().add_option("FILE", file_,
                           "Plan file; or a job, for which the best split of its GPUs is found"),
          OptionInputKind::kDocument)
        ->required();
    mark_option_as_output(
        app().add_option("-o,--output", output_, "For a job: write the best plan to this file"))
        ->type_name("PLAN");
    app()
        .add_option("--threads", threads_, "Threads; the answer does not depend on it")
        ->check(runtime::whole_number_validator(1, answers::kMaxTuneThreads))
        ->type_name("N");
    app().add_flag("-v,--verbose", verbose_, "Also print the least important notes");
  }

  void run_subcommand(const Console& console) override {
    const answers::StepPhasesAnswer answer =
        is_plan_file(file_, console) ? of_plan(console) : of_job(console);
    if (!output_.empty()) write_plan(answer.step.update.planned, console);
    if (wants_json_output())
      return print_json(console.out, answers::step_phases_answer_json(answer));
    console.out << phased_step_text(answer.step, verbose_);
    if (answer.splits) console.out << device_splits_table(*answer.splits);
  }

 private:
  answers::StepPhasesAnswer of_plan(const Console& console) {
    if (!output_.empty())
      fail_input(
          "--output writes the plan found for a job, but this file is a plan: leave the option "
          "out");
    return answers::predict_step_phases(load_settled_plan(file_, console),
                                        {.name = file_, .reserve = reserve_.given()});
  }

  answers::StepPhasesAnswer of_job(const Console& console) {
    ProgressLine line(console.terminal);
    return answers::find_best_device_split(load_job_file(file_, console),
                                           {.name = file_,
                                            .reserve = reserve_.given(),
                                            .threads = threads_,
                                            .progress = [&](const tune::TuneProgress& state) {
                                              line.show_progress(search_progress_text(state),
                                                                 state.done, state.most);
                                            }});
  }

  void write_plan(const plan::PlannedJob& planned, const Console& console) {
    write_file(output_, plan::plan_yaml(planned));
    console.log.info(fmt::format("wrote the best plan to {}", output_));
  }

  std::string file_;
  std::string output_;
  int threads_ = 0;
  bool verbose_ = false;
  MemoryHeadroom reserve_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> phases_command(CLI::App& program) {
  return std::make_unique<PhasesCommand>(program);
}

}  // namespace stepwright::cli
