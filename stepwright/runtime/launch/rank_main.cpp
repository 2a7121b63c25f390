#include "stepwright/runtime/launch/rank_main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/output_file.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/launch/executable.h"
#include "stepwright/runtime/launch/held_run.h"
#include "stepwright/runtime/launch/launch.h"
#include "stepwright/runtime/launch/rank_world.h"
#include "stepwright/runtime/launch/train_flags.h"
#include "stepwright/runtime/launch/trainer.h"
#include "stepwright/runtime/measure/metrics_file.h"
#include "stepwright/runtime/rank/live_tensor_counter.h"

namespace stepwright::runtime {
namespace {

/// Prints steps as they end, and at the end how long they took compared to the prediction.
class Progress {
 public:
  /// `predicted_s`: predicted seconds of a step; 0: unknown.
  Progress(const TrainOptions& options, double predicted_s) : predicted_s_(predicted_s) {
    if (!options.metrics.empty()) metrics_.emplace(options.metrics, options.resume);
  }

  void add(const StepReport& report);
  void finish();

 private:
  std::optional<MetricsFile> metrics_;
  double predicted_s_;
  std::vector<double> times_s_;
};

void Progress::add(const StepReport& report) {
  const std::string learned = report.learned
                                  ? fmt::format("  loss {:.4f}  norm {:.3f}", report.learned->loss,
                                                report.learned->gradient_norm)
                                  : "  held";
  const std::string predicted =
      predicted_s_ > 0 ? fmt::format(" (predicted {:.3f} s)", predicted_s_) : "";
  const std::string memory =
      report.memory_bytes > 0 ? fmt::format("  {:.0f} MB", report.memory_bytes / 1e6) : "";
  fmt::print(stderr, "step {:>6}{}  {:.0f} tokens/s  {:.3f} s{}{}\n", report.step, learned,
             report.tokens_per_s, report.time_s, predicted, memory);
  times_s_.push_back(report.time_s);
  if (!metrics_) return;
  nlohmann::ordered_json line{{"step", report.step}};
  if (report.learned) {
    line["loss"] = report.learned->loss;
    line["gradient_norm"] = report.learned->gradient_norm;
    line["learning_rate"] = report.learned->learning_rate;
  }
  line["time_s"] = report.time_s;
  line["tokens_per_s"] = report.tokens_per_s;
  if (report.memory_bytes > 0) line["memory_bytes"] = report.memory_bytes;
  if (predicted_s_ > 0) line["predicted_s"] = predicted_s_;
  metrics_->add(report.step, line.dump());
}

void Progress::finish() {
  if (metrics_) metrics_->close();
  if (times_s_.empty() || predicted_s_ <= 0) return;
  // The first step also allocates.
  if (times_s_.size() > 1) times_s_.erase(times_s_.begin());
  const auto middle = times_s_.begin() + static_cast<std::ptrdiff_t>(times_s_.size() / 2);
  std::ranges::nth_element(times_s_, middle);
  fmt::print(stderr, "a step took {:.3f} s in the median, {:.2f} times the predicted {:.3f} s\n",
             *middle, *middle / predicted_s_, predicted_s_);
}

/// The facts that `stepwright train` passes to a rank in addition to a person's options.
struct Handed {
  double predicted_s = 0;  ///< Predicted seconds of a step; 0: unknown.
  std::string times;       ///< File of its operators' predicted times.
};

void tell_summary(const StepTimeSummary& summary, const std::string& path) {
  fmt::print(stderr, "{}", terminal_safe_text(step_time_summary_text(summary)));
  if (path.empty()) return;
  write_file(path, step_time_summary_json(summary).dump(1) + '\n');
}

void run(const TrainOptions& options, const Handed& handed) {
  check_train_options(options);
  if (options.hold && handed.times.empty()) fail_input("--hold: needs --times");
  const plan::PlannedJob planned = plan::load_plan(options.plan);
  if (!options.hold) check_runtime_supports_plan(planned);
  const LaunchedRank place = rank_from_launcher_environment().value_or(LaunchedRank{});
  if (place.size != planned.plan.parallel.ranks()) {
    fail_input(fmt::format("{}: the plan has {} ranks, but {} were started", options.plan,
                           planned.plan.parallel.ranks(), place.size));
  }
  start_counting_cpu_allocations();
  const RankWorldConnection joined(place, options.timeout_s);
  Progress progress(options, handed.predicted_s);
  const auto report = [&](const StepReport& step) { progress.add(step); };
  if (options.hold) {
    run_emulated_rank(planned, options, handed.times, joined.ranks_of_run(), report);
  } else {
    train(planned, options, handed.times, joined.ranks_of_run(),
          {report, [&](const StepTimeSummary& all) { tell_summary(all, options.summary); },
           [](const std::string& note) { fmt::print(stderr, "{}\n", note); }});
  }
  progress.finish();
}

}  // namespace

int run_rank_command(int argc, char** argv) {
  CLI::App app("One rank of a training run; `stepwright train` starts it.", "stepwright-rank");
  TrainOptions options;
  add_train_options(app, options);
  Handed handed;
  app.add_option("--predicted", handed.predicted_s, "Seconds that a step is predicted to take");
  app.add_option("--times", handed.times, "Predicted times of operators")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  return run_as_rank([&] { run(options, handed); });
}

}  // namespace stepwright::runtime
