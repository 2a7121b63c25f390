#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/phases_text.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"

namespace stepwright::cli {
namespace {

constexpr int kMostSplitThreads = 1024;
constexpr std::size_t kPlansOfSplit = 5;

class PhasesCommand : public Command {
 public:
  explicit PhasesCommand(CLI::App& program)
      : Command(program, "phases",
                "Say how long the phases of a preference or reinforcement step take",
                "  stepwright phases job.yaml\n"
                "  stepwright phases plan.yaml --json") {
    app()
        .add_option("FILE", file_,
                    "Plan file; or a job, for which the best split of its GPUs is found")
        ->required();
    app()
        .add_option("-o,--output", output_, "Of a job: write the best plan to this file")
        ->type_name("PLAN");
    app()
        .add_option("--threads", search_.threads, "Threads; the answer does not depend on it")
        ->check(CLI::Range(1, kMostSplitThreads))
        ->type_name("N");
    search_.top = kPlansOfSplit;
  }

  void run(const Console& console) override {
    if (!output_.empty()) check_output(output_, file_);
    if (is_plan_file(file_, console)) return answer_plan(console);
    const phases::PoolSplits found = splits(console);
    const phases::PhasedStep& best = found.steps.front();
    if (!output_.empty()) write_plan(best.update.planned, console);
    if (json()) {
      nlohmann::ordered_json answer = phases::phased_step_json(best);
      answer["splits"] = phases::splits_json(found);
      return print_json(console.out, answer);
    }
    console.out << phased_step_text(best) << splits_text(found);
  }

 private:
  void answer_plan(const Console& console) {
    if (!output_.empty()) fail_input("--output belongs to a job, whose plan is looked for");
    plan::PlannedJob planned = load_settled_plan(file_, console);
    reserve_.apply(planned.job);
    const phases::PhasedStep step = phases::phased_step(planned);
    if (json()) return print_json(console.out, phases::phased_step_json(step));
    console.out << phased_step_text(step);
  }

  /// What finds fault with the job names its file.
  phases::PoolSplits splits(const Console& console) {
    plan::Job job = load_job_file(file_, console);
    reserve_.apply(job);
    ProgressLine line(console.terminal);
    search_.progress = [&](const tune::TuneProgress& state) {
      line.show(progress_text(state), state.done, state.most);
      if (console.progress) console.progress(state);
    };
    try {
      return phases::best_splits(job,
                                 [&](const plan::Job& part) { return tune::tune(part, search_); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      fail_input(fmt::format("{}: {}", file_, error.what()), {.file = file_});
    }
  }

  void write_plan(const plan::PlannedJob& planned, const Console& console) {
    const std::string text = plan::plan_yaml(planned);
    write_file(output_, [&](std::ostream& out) { out << text; });
    console.log.info(fmt::format("wrote the best plan to {}", output_));
  }

  std::string file_;
  std::string output_;
  tune::TuneOptions search_;
  MemoryReserve reserve_{app()};
};

}  // namespace

std::unique_ptr<Command> phases_command(CLI::App& program) {
  return std::make_unique<PhasesCommand>(program);
}

}  // namespace stepwright::cli
