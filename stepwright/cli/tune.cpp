#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/own_plan.h"
#include "stepwright/answers/tune_answer.h"
#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/memory_reserve.h"
#include "stepwright/cli/one_of.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/progress_line.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/training_run_options.h"
#include "stepwright/cli/tune_runs.h"
#include "stepwright/cli/tune_text.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/file_words.h"
#include "stepwright/runtime/launch/number_option.h"

namespace stepwright::cli {
namespace {

/// Returns the words that `--framework` accepts: names of frameworks, and of their files.
std::vector<std::string> framework_choices() {
  std::vector<std::string> words = plan::framework_field_words();
  for (const plan::FrameworkFileWord& one : plan::kFileWords) words.emplace_back(one.word);
  return words;
}

class Tune : public Subcommand {
 public:
  explicit Tune(CLI::App& program)
      : Subcommand(program, "tune", "Find the plan to train with",
                   "  stepwright tune examples/llama-3-70b.yaml\n"
                   "  stepwright tune examples/llama-3-70b.yaml -o plan.yaml --top 3\n"
                   "  stepwright tune examples/llama-3-70b.yaml --json") {
    reads(app().add_option("JOB", job_, "Job file: model, cluster and batch (YAML or JSON)"),
          OptionInputKind::kDocument)
        ->required();
    mark_option_as_output(
        app().add_option("-o,--output", plan_, "Write the best plan to this file"))
        ->type_name("PLAN");
    app()
        .add_option("--top", top_,
                    "Show the plain list of the N best plans, not the best of each family")
        ->check(runtime::whole_number_validator(1, answers::kMaxRequestedPlans))
        ->type_name("N")
        ->capture_default_str();
    app().add_flag("--exhaustive", options_.exhaustive,
                   "Estimate every legal plan, instead of excluding plans by lower bounds\n"
                   "(same answer, slower)");
    reads(app().add_option("--against", own_,
                           "A plan of your own: shows the shortest list of changes that lead to "
                           "the\nbest plan, cheapest first, each with its gain"),
          OptionInputKind::kDocument)
        ->type_name("PLAN");
    app()
        .add_option("--sweep", sweep_,
                    "Tune separately for each value of a field of the job: FIELD=VALUE,VALUE,...,\n"
                    "as in cluster.nodes=8,16,32, batch.sequences=256,512, batch.length=...,\n"
                    "cluster.nic=1x,2x, cluster.profile=dgx-h100,dgx-h200")
        ->type_name("F=A,B,C");
    app()
        .add_option("--framework", framework_,
                    "Only plans that this framework runs, with its defaults; overrides the "
                    "job\n(stepwright list frameworks)")
        ->transform(one_of_words_validator(framework_choices))
        ->type_name("NAME");
    app().add_flag("-v,--verbose", verbose_,
                   "Also show what less memory costs and more would gain, the nearest plan of "
                   "every\nframework, and why combinations of choices are not legal");
    own_runs_.add_options_to_command(app());
    app()
        .add_option("--threads", options_.threads, "Threads; the answer does not depend on it")
        ->check(runtime::whole_number_validator(1, answers::kMaxTuneThreads))
        ->type_name("N");
  }

  void run_subcommand(const Console& console) override {
    plan::Job job = load_job_file(job_, console, framework_);
    reserve_.given().replace_memory_margin_of_job(job);
    options_.top = static_cast<std::size_t>(top_);
    if (own_runs_.asked()) return answer_runs(job, console);
    const answers::TuneRequest request = asked(job, console);
    const answers::TuneAnswer answer = answered(std::move(job), request, console);
    if (answer.fault.empty() && !plan_.empty()) write_plan(answer.best_planned_job(), console);
    if (report_.wanted()) {
      report_.write_report_page(console, answers::tune_report(answer, options_.threads));
    }
    if (wants_json_output()) {
      print_json(console.out, answers::tune_answer_json(answer));
    } else {
      const TuneOutputDetail detail{.plain_list = app().count("--top") > 0, .verbose = verbose_};
      console.out << tune_text(answer, detail);
    }
    if (!answer.fault.empty()) throw Error(ErrorKind::kRuntime, answer.fault);
  }

 private:
  [[nodiscard]] answers::TuneRequest asked(const plan::Job& job, const Console& console) const {
    answers::TuneRequest request{.name = job_,
                                 .options = options_,
                                 .sweep = sweep_,
                                 .run = run_.training_length_and_price(),
                                 .more_memory = verbose_ || wants_json_output() || report_.wanted(),
                                 .job_for = [this, &console](const std::string& framework) {
                                   plan::Job other = load_job_file(job_, console, framework);
                                   reserve_.given().replace_memory_margin_of_job(other);
                                   return other;
                                 }};
    if (!plan_.empty()) request.plan_file = plan_;
    if (!own_.empty()) {
      request.own = answers::read_user_plan(read_file_or_console_text(own_, console), job_, job);
    }
    return request;
  }

  static answers::TuneAnswer answered(plan::Job job, const answers::TuneRequest& request,
                                      const Console& console) {
    ProgressLine line(console.terminal);
    return answers::answer_tune_command(
        std::move(job), request, [&](const answers::TuneAnswerProgress& state) {
          line.show_progress(search_progress_text(state), state.search.done, state.search.most);
        });
  }

  /// Prints the answer about the user's own runs of the job.
  void answer_runs(const plan::Job& job, const Console& console) {
    const answers::MeasuredRunsRequest request = own_runs_.measured_runs_request(job_);
    const learn::MeasuredRunsVerdict loop = [&] {
      ProgressLine line(console.terminal);
      options_.progress = [&](const tune::TuneProgress& state) {
        line.show_progress(search_progress_text(state), state.done, state.most);
      };
      return answers::calibrate_and_rank_by_measured_runs(job, request, options_);
    }();
    if (wants_json_output()) {
      print_json(console.out, learn::measured_runs_verdict_json(loop));
    } else {
      console.out << measured_runs_text(loop);
    }
    const std::string fault = answers::no_trainable_plan_reason(loop, request);
    if (!fault.empty()) throw Error(ErrorKind::kRuntime, fault);
    if (!plan_.empty()) write_plan(loop.best->planned, console);
  }

  void write_plan(const plan::PlannedJob& planned, const Console& console) {
    write_file(plan_, plan::plan_yaml(planned));
    console.log.info(fmt::format("wrote the best plan to {}", plan_));
  }

  std::string job_;
  std::string plan_;
  std::string own_;
  std::string sweep_;
  std::string framework_;
  std::int64_t top_ = 10;
  bool verbose_ = false;
  MeasuredRunsOptions own_runs_;
  tune::TuneOptions options_;
  MemoryHeadroom reserve_{app()};
  TrainingRunOptions run_{app()};
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> tune_command(CLI::App& program) {
  return std::make_unique<Tune>(program);
}

}  // namespace stepwright::cli
