#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/answers/run_answer.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/run_settings_options.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/cli/whole_run_text.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

class WholeRuns : public Subcommand {
 public:
  explicit WholeRuns(CLI::App& program)
      : Subcommand(
            program, "run",
            "Predict how long the whole run takes, with failures, restarts, checkpoints",
            "  stepwright run plan.yaml --tokens 15e12\n"
            "  stepwright run plan.yaml --tokens 15e12 --device-mttf 50000h --restart 10min\n"
            "  stepwright run job.yaml --tokens 15e12 --repair 1d") {
    reads(app().add_option("FILE", file_,
                           "Plan file; or a job, whose plans are compared by their whole runs"),
          OptionInputKind::kDocument)
        ->required();
    CLI::Option* simulates =
        app()
            .add_option("--simulate", simulated_, "Also simulate so many runs event by event")
            ->check(runtime::whole_number_validator(1, answers::kMaxSimulatedTrainingRuns))
            ->type_name("N");
    app()
        .add_option("--seed", seed_, "Seed of the random numbers of --simulate")
        ->check(runtime::whole_number_validator())
        ->type_name("N")
        ->needs(simulates)
        ->capture_default_str();
    app()
        .add_option("--threads", search_.threads, "Threads; the answer does not depend on it")
        ->check(runtime::whole_number_validator(1, answers::kMaxTuneThreads))
        ->type_name("N");
  }

  void run_subcommand(const Console& console) override {
    const answers::TrainingRunAnswer answer =
        is_plan_file(file_, console)
            ? answers::predict_whole_run(load_settled_plan(file_, console), asked())
            : of_job(console);
    if (wants_json_output()) return print_json(console.out, answers::whole_run_answer_json(answer));
    console.out << whole_run_text(answer.best.prediction, answer.best.run, answer.played);
    if (answer.comparison) console.out << plans_by_run_time_table(*answer.comparison);
  }

 private:
  [[nodiscard]] answers::TrainingRunRequest asked() const {
    return {.name = file_,
            .settings = run_.given_option_values(),
            .reserve = reserve_.given(),
            .played = simulated_,
            .seed = seed_,
            .search = search_};
  }

  answers::TrainingRunAnswer of_job(const Console& console) {
    ProgressLine line(console.terminal);
    search_.progress = [&](const tune::TuneProgress& state) {
      line.show_progress(search_progress_text(state), state.done, state.most);
    };
    return answers::answer_job_run(load_job_file(file_, console), asked());
  }

  std::string file_;
  std::optional<std::int64_t> simulated_;
  std::uint64_t seed_ = 1;
  tune::TuneOptions search_;
  RunSettingsOptions run_{app()};
  MemoryHeadroom reserve_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> whole_run_command(CLI::App& program) {
  return std::make_unique<WholeRuns>(program);
}

}  // namespace stepwright::cli
