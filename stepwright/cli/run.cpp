#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/cli/command.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/run_settings_options.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/cli/whole_run_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/launch/whole_number.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostPlayedRuns = 100'000;
constexpr double kMostPlayedCheckpoints = 1e9;
constexpr int kMostSearchThreads = 1024;

/// What is said about a plan, or about the best of a job.
struct Answer {
  whole_run::RunCandidate best;
  std::optional<whole_run::PlansByRun> comparison;
  std::optional<whole_run::SimulatedRuns> played;
};

class WholeRuns : public Command {
 public:
  explicit WholeRuns(CLI::App& program)
      : Command(program, "run",
                "Say how long the whole run takes, with failures, restarts, checkpoints",
                "  stepwright run plan.yaml --tokens 15e12\n"
                "  stepwright run plan.yaml --tokens 15e12 --device-mttf 50000h --restart 10min\n"
                "  stepwright run job.yaml --tokens 15e12 --repair 1d") {
    app()
        .add_option("FILE", file_,
                    "Plan file; or a job, whose plans are compared by their whole runs")
        ->required();
    app()
        .add_option("--simulate", simulated_,
                    "Also play so many runs event by event, beside the closed form")
        ->check(CLI::Range(std::int64_t{1}, kMostPlayedRuns))
        ->type_name("N");
    app()
        .add_option("--seed", seed_, "Of the random numbers of --simulate")
        ->check(runtime::whole_number())
        ->type_name("N")
        ->capture_default_str();
    app()
        .add_option("--threads", search_.threads, "Threads; the answer does not depend on it")
        ->check(CLI::Range(1, kMostSearchThreads))
        ->type_name("N");
  }

  void run(const Console& console) override {
    Answer answer = is_plan_file(file_, console) ? of_plan(console) : of_job(console);
    if (simulated_) {
      check_simulation(answer.best.run.process);
      answer.played = whole_run::simulate_runs(answer.best.run.process, *simulated_, seed_);
    }
    if (json()) return print_json(console.out, to_json(answer));
    console.out << whole_run_text(answer.best.prediction, answer.best.run, answer.played);
    if (answer.comparison) console.out << plans_by_run_text(*answer.comparison);
  }

 private:
  /// What is wrong with the job or plan is told with its file.
  template <class Work>
  auto of_file(const Work& work) const {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", file_, error.what()), {.file = file_});
    }
  }

  Answer of_plan(const Console& console) {
    plan::PlannedJob planned = load_settled_plan(file_, console);
    reserve_.apply(planned.job);
    planned.job.run = run_.over(planned.job.run);
    whole_run::RunCandidate best{.prediction = simulate::predict(planned)};
    best.run = of_file([&] { return whole_run::whole_run(best.prediction, planned.job.run); });
    return {.best = std::move(best)};
  }

  Answer of_job(const Console& console) {
    plan::Job job = load_job_file(file_, console);
    reserve_.apply(job);
    job.run = run_.over(job.run);
    whole_run::tokens_of(job.run);
    ProgressLine line(console.terminal);
    search_.progress = [&](const tune::TuneProgress& state) {
      line.show(progress_text(state), state.done, state.most);
      if (console.progress) console.progress(state);
    };
    whole_run::PlansByRun found = of_file([&] {
      return whole_run::plans_by_run(
          job, [&](const plan::Job& part) { return tune::tune(part, search_); });
    });
    whole_run::RunCandidate best = found.candidates.front();
    return {.best = std::move(best), .comparison = std::move(found)};
  }

  void check_simulation(const whole_run::RunProcess& process) const {
    const double checkpoints =
        static_cast<double>(process.steps) / static_cast<double>(process.checkpoint_every);
    if (checkpoints * static_cast<double>(*simulated_) <= kMostPlayedCheckpoints) return;
    fail_input(
        fmt::format("--simulate {}: a run has {:.3g} checkpoints, and {:.0g} can be played in all; "
                    "give fewer runs or tokens",
                    *simulated_, checkpoints, kMostPlayedCheckpoints));
  }

  static Json to_json(const Answer& answer) {
    Json json = whole_run::whole_run_json(answer.best.run);
    json["fits"] = answer.best.prediction.memory.fits();
    json["plan"] = plan::plan_json(answer.best.prediction.planned);
    if (answer.played) json["simulated"] = whole_run::simulated_json(*answer.played);
    if (answer.comparison) {
      json["candidates"] = whole_run::candidates_json(*answer.comparison);
      json["endless"] = whole_run::endless_json(*answer.comparison);
    }
    return json;
  }

  std::string file_;
  std::optional<std::int64_t> simulated_;
  std::uint64_t seed_ = 1;
  tune::TuneOptions search_;
  RunSettingsOptions run_{app()};
  MemoryReserve reserve_{app()};
};

}  // namespace

std::unique_ptr<Command> whole_run_command(CLI::App& program) {
  return std::make_unique<WholeRuns>(program);
}

}  // namespace stepwright::cli
