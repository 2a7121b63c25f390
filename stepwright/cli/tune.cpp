#include "stepwright/tune/tune.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/cli/against_text.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/report_names.h"
#include "stepwright/cli/sweep_text.h"
#include "stepwright/cli/training_run_options.h"
#include "stepwright/cli/training_run_text.h"
#include "stepwright/cli/tune_runs.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/notes.h"
#include "stepwright/plan/words.h"
#include "stepwright/report/prediction_pictures.h"
#include "stepwright/tune/against.h"
#include "stepwright/tune/misfit.h"
#include "stepwright/tune/more_memory.h"
#include "stepwright/tune/remedies.h"
#include "stepwright/tune/sweep.h"
#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune_json.h"
#include "stepwright/tune/two_strands.h"
#include "stepwright/whole_run/asked_run.h"

namespace stepwright::cli {
namespace {

constexpr std::int64_t kMostPlans = 100'000;
constexpr int kMostThreads = 1024;

class Tune : public Command {
 public:
  explicit Tune(CLI::App& program)
      : Command(program, "tune", "Find the plan to train with",
                "  stepwright tune examples/llama-3-70b.yaml\n"
                "  stepwright tune examples/llama-3-70b.yaml -o plan.yaml --top 3\n"
                "  stepwright tune examples/llama-3-70b.yaml --json") {
    app().add_option("JOB", job_, "Job file: model, cluster and batch (YAML or JSON)")->required();
    app().add_option("-o,--output", plan_, "Write the best plan to this file")->type_name("PLAN");
    app()
        .add_option("--top", top_,
                    "Show the plain list of the N best plans, not the best of each family")
        ->check(CLI::Range(std::int64_t{1}, kMostPlans))
        ->type_name("N")
        ->capture_default_str();
    app().add_flag("--exhaustive", options_.exhaustive,
                   "Estimate every legal plan, instead of ruling plans out by lower bounds\n"
                   "(same answer, slower)");
    app()
        .add_option("--against", own_,
                    "A plan of your own: what is wrong with it, and the shortest list of\n"
                    "changes to the best, cheapest first, each with its gain")
        ->type_name("PLAN");
    app()
        .add_option("--sweep", sweep_,
                    "Tune anew for each value of a field of the job: FIELD=VALUE,VALUE,...,\n"
                    "as in cluster.nodes=8,16,32, batch.sequences=256,512, batch.length=...,\n"
                    "cluster.nic=1x,2x, cluster.profile=dgx-h100,dgx-h200")
        ->type_name("F=A,B,C");
    app()
        .add_option("--framework", framework_,
                    "Only plans that it runs, with its defaults, whatever the job names\n"
                    "(stepwright list frameworks)")
        ->check(one_of(plan::framework_words))
        ->type_name("NAME");
    own_runs_.add_to(app());
    app().add_flag(
        "-v,--verbose", verbose_,
        "Also say what less memory costs and more would gain, the nearest plan of every\n"
        "framework, and why combinations of choices are not legal");
    app()
        .add_option("--threads", options_.threads, "Threads; the answer does not depend on it")
        ->check(CLI::Range(1, kMostThreads))
        ->type_name("N");
  }

  void run(const Console& console) override {
    const auto start = std::chrono::steady_clock::now();
    plan::Job job = load_job_file(job_, console, framework_);
    reserve_.apply(job);
    if (!plan_.empty()) check_output(plan_, job_);
    report_.check(job_);
    options_.top = static_cast<std::size_t>(top_);
    if (own_runs_.asked()) return answer_runs(job, console);
    const std::optional<tune::TrainingRun> run = run_.run();
    std::optional<plan::PlannedJob> own;
    if (!own_.empty()) {
      own = load_own_plan(own_, job_, job, console);
      job.use_all = true;  // as the person's plan does
    }
    std::optional<tune::Sweep> sweep;
    if (!sweep_.empty()) sweep = tune::read_sweep(job, sweep_);
    tune::TuneResult result = search(job, console);
    std::optional<tune::Against> compared;
    if (own) {
      std::optional<cluster::AttentionKernel> attention;
      if (!job.attention_stated) attention = own->job.kernels.attention;
      compared = tune::against(result, own->plan, options_, attention);
    }
    if (sweep) {
      std::size_t value = 0;
      tune::tune_sweep(*sweep, [&](const plan::Job& other) {
        return search(other, console,
                      fmt::format("value {} of {}, ", ++value, sweep->points.size()));
      });
    }
    const bool details = verbose_ || json() || report_.wanted();
    const std::vector<tune::MemoryStep> more =
        details ? tune::more_memory(result, options_) : std::vector<tune::MemoryStep>();
    const std::optional<tune::StrandsGain> strands = tune::two_strands(result, options_);
    const bool fits = result.plans.front().fits;
    const std::vector<tune::FittingJob> helps = tune::remedies(result, options_);
    if (std::string note = plan::method_note(job); !note.empty())
      result.notes.push_back(std::move(note));
    if (!helps.empty() && json()) result.notes.push_back(tune::remedies_text(helps));
    if (fits && !plan_.empty()) write_plan({result.job, result.plans.front().plan}, console);
    const plan::Plan& plan = result.plans.front().plan;
    const simulate::Prediction best = simulate::predict({result.job, plan});
    const std::vector<tune::FrameworkRun> frameworks =
        tune::framework_runs(result.job, plan, tune::thread_count(options_));
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    nlohmann::ordered_json answer;
    if (json() || report_.wanted()) {
      answer = tune::tune_json(result, best, frameworks);
      add_asked(answer, result, compared, sweep, run);
      answer["more_memory"] = tune::more_memory_json(result, more);
      answer["two_strands"] = tune::two_strands_json(result, strands);
    }
    if (report_.wanted()) write_report(result, best, answer, sweep, console);
    if (json()) {
      print_json(console.out, answer);
    } else {
      console.out << tune_text(result, best, {more, strands, run, helps, frameworks},
                               {.plain_list = app().count("--top") > 0, .verbose = verbose_});
      if (compared) console.out << against_text(result, *compared);
      if (run) console.out << run_text(result, *run);
      if (sweep) console.out << sweep_text(*sweep, run);
    }
    if (!fits)
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{}: {}", job_, tune::misfit_text(result.plans.front())));
  }

 private:
  /// A search that finds fault with the job names its file.
  tune::TuneResult search(const plan::Job& job, const Console& console,
                          const std::string& which = "") {
    ProgressLine line(console.terminal);
    tell_progress(line, console, which);
    try {
      return tune::tune(job, options_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInput) throw;
      fail_input(fmt::format("{}: {}", job_, error.what()), {.file = job_});
    }
  }

  void tell_progress(ProgressLine& line, const Console& console, const std::string& which = "") {
    options_.progress = [&line, &console, which](const tune::TuneProgress& state) {
      line.show(which + progress_text(state), state.done, state.most);
      if (console.progress) console.progress(state);
    };
  }

  /// Prints what the person's own runs of the job say.
  void answer_runs(const plan::Job& job, const Console& console) {
    ProgressLine line(console.terminal);
    tell_progress(line, console);
    const learn::ClosedLoop loop = own_runs_.answer(job, options_);
    if (json()) {
      print_json(console.out, learn::closed_loop_json(loop));
    } else {
      console.out << runs_answer_text(loop);
    }
    if (!loop.best) {
      throw Error(ErrorKind::kRuntime, fmt::format("{}: no candidate fits in memory", job_));
    }
    if (!plan_.empty()) write_plan(loop.best->planned, console);
  }

  void write_plan(const plan::PlannedJob& planned, const Console& console) {
    const std::string text = plan::plan_yaml(planned);
    write_file(plan_, [&](std::ostream& out) { out << text; });
    console.log.info(fmt::format("wrote the best plan to {}", plan_));
  }

  void write_report(const tune::TuneResult& result, const simulate::Prediction& best,
                    const nlohmann::ordered_json& answer, const std::optional<tune::Sweep>& sweep,
                    const Console& console) {
    const report::SearchAgain search_again =
        [&](const plan::Job& job) -> std::optional<simulate::Prediction> {
      const tune::TuneResult other = tune::tune(job, {.threads = options_.threads, .top = 1});
      if (!other.plans.front().fits) return std::nullopt;
      return simulate::predict({other.job, other.plans.front().plan});
    };
    nlohmann::ordered_json pictures = report::prediction_pictures(best, search_again);
    pictures["name"] = plan_name(best.planned.plan, result.job);
    pictures["names"] = plan_names(result, sweep);
    pictures["whole_run"] =
        whole_run::asked_run_json(best, {.run = run_.run(), .idle = whole_run::idle_of(result)});
    if (sweep) pictures["sweep_field"] = sweep->field;
    report_.write(console, plan::job_line(result.job), answer, pictures);
  }

  static void add_asked(nlohmann::ordered_json& answer, const tune::TuneResult& result,
                        const std::optional<tune::Against>& compared,
                        const std::optional<tune::Sweep>& sweep,
                        const std::optional<tune::TrainingRun>& run) {
    if (run) whole_run::add_runs(answer, result, *run);
    if (compared) answer["against"] = tune::against_json(result, *compared);
    if (sweep) answer["sweep"] = tune::sweep_json(*sweep, run);
  }

  std::string job_;
  std::string plan_;
  std::string own_;
  std::string sweep_;
  std::string framework_;
  std::int64_t top_ = 10;
  bool verbose_ = false;
  TuneRuns own_runs_;
  tune::TuneOptions options_;
  MemoryReserve reserve_{app()};
  TrainingRunOptions run_{app()};
  ReportFile report_{app()};
};

}  // namespace

std::unique_ptr<Command> tune_command(CLI::App& program) { return std::make_unique<Tune>(program); }

}  // namespace stepwright::cli
