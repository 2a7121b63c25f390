#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <thread>

#include "stepwright/cli/command.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/error.h"
#include "stepwright/core/named_file.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/cost/plan_messages.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/sample/asked_message.h"
#include "stepwright/sample/sample_options.h"
#include "stepwright/step/program.h"
#include "stepwright/tune/tune.h"

namespace stepwright::cli {
namespace {

constexpr std::chrono::seconds kSampleGrace{10};
/// Number of best plans of a job whose messages are sampled.
constexpr int kBestPlans = 3;

class Sample : public Subcommand {
 public:
  explicit Sample(CLI::App& program)
      : Subcommand(program, "sample", "Measure operators or messages of this machine, or of a lab",
                   "  stepwright sample operators --ranks 4 -o operators.csv\n"
                   "  stepwright lab run lab.yaml -- stepwright sample collectives --scale 100 "
                   "-o messages.csv\n"
                   "  stepwright fit operators.csv messages.csv -o measured.json") {
    sample::add_sample_command_options(app(), options_);
    app()
        .add_option("--plan", plans_,
                    "Only the collectives that this plan sends, or the best plans of a job; may "
                    "be given several times")
        ->type_name("FILE");
  }

  void run_subcommand(const Console& console) override {
    sample::check_sample_options(options_);
    if (!plans_.empty() && options_.kind != "collectives") {
      fail_input("--plan: is only for `sample collectives`");
    }
    for (const std::string& file : plans_) ask_for(file, console);
    sample::check_sample_options(options_);
    const auto place = runtime::rank_from_launcher_environment();
    if (!place || place->rank == 0) check_option_output_writable({"--output", options_.output});
    const std::filesystem::path program = runtime::find_rank_program_path();
    const std::vector<std::string> words = sample::sample_rank_arguments(options_);
    if (place) runtime::exec_program_without_return(program, words);
    const std::int64_t cores = std::max(2U, std::thread::hardware_concurrency());
    const runtime::RankProcessesOutcome ending = runtime::run_rank_programs(
        program, words, options_.ranks > 0 ? options_.ranks : cores, kSampleGrace);
    if (ending.interrupted != 0) end_process_by_signal(ending.interrupted);
    if (ending.killed) {
      throw Error(ErrorKind::kRuntime, "sampling failed: " + killed_rank_text(*ending.killed));
    }
    if (ending.code != 0) {
      throw Error(ending.code == 2 ? ErrorKind::kInput : ErrorKind::kRuntime,
                  "sampling failed; see the error of a process above");
    }
    console.log.info(fmt::format("wrote the samples to {}", options_.output));
  }

 private:
  /// Adds the messages of a plan, or of the best plans of a job.
  void ask_for(const std::string& file, const Console& console) {
    if (is_plan_file(file, console)) return ask_for(load_settled_plan(file, console));
    const tune::TuneResult found = tune::tune(load_job_file(file, console), {.top = kBestPlans});
    for (const tune::TunedPlan& each : found.plans) ask_for({found.job, each.plan});
  }

  void ask_for(const plan::PlannedJob& planned) {
    const cost::CostModel cost(planned.job);
    const auto layouts =
        cost::rank_group_network_layouts(planned.job.cluster, plan::RankGrid(planned.plan));
    const auto messages =
        cost::plan_messages_to_measure(step::build_step_program(planned.job, planned.plan), cost,
                                       layouts, planned.plan.collectives);
    for (const cost::MeasurablePlanMessage& message : messages) {
      const std::string word = sample::message_option_text(message);
      if (std::ranges::find(options_.messages, word) == options_.messages.end()) {
        options_.messages.push_back(word);
      }
    }
  }

  sample::SampleCommandOptions options_;
  std::vector<std::string> plans_;
};

}  // namespace

std::unique_ptr<Subcommand> sample_command(CLI::App& program) {
  return std::make_unique<Sample>(program);
}

}  // namespace stepwright::cli
