#include "stepwright/whole_run/whole_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/error.h"
#include "stepwright/packing/largest_of.h"
#include "stepwright/plan/notes.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/whole_run/duration.h"
#include "stepwright/whole_run/forward_time.h"
#include "stepwright/whole_run/spares.h"

namespace stepwright::whole_run {
namespace {

/// Four of five draws from a normal distribution are within this many standard deviations.
constexpr double kFourOfFive = 1.2816;

/// Returns a remark about work of a training method that the predicted steps leave out; empty:
/// none.
std::string updates_alone(const plan::Job& job) {
  if (plan::training_method_note(job).empty()) return "";
  return fmt::format(
      "steps contain only the updates of {}; `stepwright phases` predicts the other phases",
      name_of(plan::kMethodNames, job.method.kind));
}

void set_evaluation(TrainingRunParameters& process, const simulate::PlanPrediction& prediction,
                    const plan::TrainingRunSettings& settings) {
  if (settings.evaluation) {
    const double step = process.step_s + process.straggling_s;
    process.evaluation_s = step * *settings.evaluation / (1 - *settings.evaluation);
  }
  if (settings.evaluation_tokens) {
    process.evaluation_every = static_cast<std::int64_t>(*settings.evaluation_every);
    process.evaluation_s = evaluation_batch_time_s(prediction) * *settings.evaluation_tokens /
                           step::trained_data_tokens_per_step(prediction.planned.job);
  }
}

void set_checkpoints(TrainingRunPrediction& run, const TrainingRunConditions& conditions) {
  TrainingRunParameters& process = run.process;
  const double write = run.checkpoint.bytes / conditions.storage_bytes_per_s;
  if (conditions.checkpoints == plan::CheckpointWriting::kAsynchronous) {
    process.copy_s = run.checkpoint.largest_part_bytes / conditions.host_copy_bytes_per_s;
    process.write_s = write;
  } else {
    process.copy_s = write;
  }
  run.best_every = process.checkpoint_every = best_checkpoint_interval_steps(process);
  if (!conditions.checkpoint_interval_s) return;
  const double steps = *conditions.checkpoint_interval_s / run.training_between_checkpoints_s(1);
  process.checkpoint_every =
      std::llround(std::clamp(steps, 1.0, static_cast<double>(process.steps)));
}

/// Deviations of a time from its mean, as shares of the mean; independent deviations add as
/// squares.
struct Deviation {
  double least = 0;  ///< Smallest possible value, as a share of the mean.
  double below = 0;
  double above = 0;

  void add(double low, double high) {
    below += std::pow(std::max(0.0, 1 - low), 2);
    above += std::pow(std::max(0.0, high - 1), 2);
  }
  [[nodiscard]] double low() const { return std::max(least, 1 - std::sqrt(below)); }
  [[nodiscard]] double high() const { return 1 + std::sqrt(above); }
};

/// Adds the effect of an assumption: the times at both ends of its range, divided by the mean time.
void add_assumed(Deviation& spread, const TrainingRunPrediction& run,
                 double TrainingRunParameters::* of, double low, double high) {
  const auto at = [&](double value) {
    TrainingRunParameters other = run.process;
    other.*of = value;
    return mean_whole_run_time(other).wall_s / run.time.wall_s;
  };
  spread.add(at(low), at(high));
}

void set_intervals(TrainingRunPrediction& run, const TrainingRunConditions& conditions,
                   double devices, const cost::StepTimeRatioInterval& step) {
  // No run is shorter than one without failures.
  Deviation spread{.least = run.time.failure_free_s() / run.time.wall_s};
  const double chance = kFourOfFive * run.time.deviation_s / run.time.wall_s;
  spread.add(1 - chance, 1 + chance);
  const EstimateWithInterval& failures = conditions.failures_per_device_s;
  add_assumed(spread, run, &TrainingRunParameters::failures_per_s, failures.low * devices,
              failures.high * devices);
  const EstimateWithInterval& restart = conditions.restart_s;
  add_assumed(spread, run, &TrainingRunParameters::restart_s, restart.low, restart.high);
  run.useful_low = run.useful_training_time_share() / spread.high();
  run.useful_high = std::min(1.0, run.useful_training_time_share() / spread.low());
  spread.add(step.low, step.high);
  spread.least *= step.low;
  run.low_s = run.time.wall_s * spread.low();
  run.high_s = run.time.wall_s * spread.high();
}

}  // namespace

double whole_run_tokens(const plan::TrainingRunSettings& settings) {
  if (settings.tokens) return *settings.tokens;
  fail_input(
      "the tokens of the run are unknown: state them with --tokens N, or `run: {tokens: N}` in the "
      "job");
}

double TrainingRunPrediction::training_between_checkpoints_s(std::int64_t every) const {
  return static_cast<double>(every) *
         (process.step_s + process.straggling_s +
          process.evaluation_s / static_cast<double>(process.evaluation_every));
}

double TrainingRunPrediction::gpu_hours(double seconds) const {
  return seconds / kHourS * static_cast<double>(devices);
}

std::optional<double> TrainingRunPrediction::cost(double seconds) const {
  if (!price_per_gpu_hour) return std::nullopt;
  return gpu_hours(seconds) * *price_per_gpu_hour;
}

TrainingRunPrediction predict_training_run(const simulate::PlanPrediction& prediction,
                                           const plan::TrainingRunSettings& settings,
                                           const IdleDevices& idle) {
  const auto& [job, plan] = prediction.planned;
  const std::int64_t used = job.cluster.devices();
  const TrainingRunConditions conditions = run_conditions(settings, job.cluster);
  TrainingRunPrediction run{.tokens = whole_run_tokens(settings),
                            .price_per_gpu_hour = settings.price_per_gpu_hour};
  run.devices = used + idle.devices + conditions.spare_nodes * job.cluster.devices_per_node;
  run.assumed = conditions.assumed;
  if (const std::string note = updates_alone(job); !note.empty()) run.assumed.push_back(note);
  TrainingRunParameters& process = run.process;
  process.steps =
      static_cast<std::int64_t>(std::ceil(run.tokens / step::trained_data_tokens_per_step(job)));
  process.step_s = prediction.step_time_s();
  process.straggling_s =
      process.step_s * conditions.straggler_spread * packing::maximum_distribution(used, 0).mean;
  process.failures_per_s = conditions.failures_per_device_s.value * static_cast<double>(used);
  process.restart_s = conditions.restart_s.value;
  process.repair_s = conditions.repair_s;
  process.spare_nodes = conditions.spare_nodes + idle.nodes;
  set_evaluation(process, prediction, settings);
  run.checkpoint = checkpoint_size(plan, prediction.program);
  set_checkpoints(run, conditions);
  check_failures_let_run_end(process);
  run.time = mean_whole_run_time(process);
  if (process.repair_s > 0) {
    run.best_spare_nodes = cheapest_spare_node_count(
        {.failures_per_s = process.failures_per_s, .repair_s = process.repair_s},
        static_cast<double>(used) / static_cast<double>(job.cluster.devices_per_node));
  }
  set_intervals(run, conditions, static_cast<double>(used), prediction.interval);
  return run;
}

}  // namespace stepwright::whole_run
