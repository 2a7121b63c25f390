#include "stepwright/learn/closed_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/normal.h"
#include "stepwright/core/parallel.h"
#include "stepwright/learn/memory_posterior.h"
#include "stepwright/learn/timed_plans.h"
#include "stepwright/memory/memory.h"

namespace stepwright::learn {
namespace {

constexpr int kLearningRounds = 3;
/// Most plans of a search that are candidates: the fastest ones.
constexpr std::size_t kMostFound = 64;
/// A measurement that is expected to gain less than this share of a step is not worth its start; a
/// failed start costs as much.
constexpr double kWorthOfStart = 0.01;
/// A constant that moves steps against the runs by less than this share is not reported.
constexpr double kWorthTelling = 0.005;
/// Standard deviations from the mean to either bound of an 80 % interval.
constexpr double kEighty = 1.2816;

/// Returns the accounted peak of memory, including that for uneven experts, as a share of the
/// capacity.
double share_of(const plan::PlannedJob& planned) {
  const memory::MemoryReport report =
      memory::memory_report(planned.job, step::build_step_program(planned.job, planned.plan));
  return report.device_bytes_needed_by_plan() / report.capacity_bytes;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// A plan, and everything that runs said about it.
struct Known {
  std::string id;
  plan::PlannedJob planned;
  double share = 0;
  bool candidate = false;
  bool failed = false;              ///< True if it did not start, for whatever reason.
  std::vector<double> log_seconds;  ///< Logarithms of its runs' seconds, in the order of the table.
};

/// The distribution of the logarithm of a plan's seconds.
struct PlanPosterior {
  Eigen::VectorXd mean, deviation;
};

class Loop {
 public:
  Loop(const plan::Job& job, const MeasuredRunTable& runs, const MeasuredRunTable* candidates,
       const LoopOptions& options)
      : job_(job),
        runs_(runs),
        options_(options),
        memory_(memory::memory_prediction_error_model(job.framework)) {
    threads_ = tune::search_thread_count(options.tune);
    for (std::size_t i = 0; i < runs.runs.size(); ++i) add_run(runs.runs[i], runs.plans[i]);
    if (candidates != nullptr) add_candidates(*candidates);
    set_shares(0);
    learn_memory();
  }

  MeasuredRunsVerdict run(bool search) {
    learn_start();
    if (search) find_candidates();
    const bool any = std::ranges::any_of(plans_, [](const Known& plan) { return plan.candidate; });
    if (!any) fail_input("no candidate has a plan");
    times_ = linearize_step_times(planned(), *learnable_, posterior_.mean, threads_);
    MeasuredRunsVerdict out;
    plan_posterior_ = posterior_of_plans();
    set_best(out);
    set_next(out);
    set_runs(out);
    set_learned(out);
    return out;
  }

 private:
  Known& plan_of(const std::string& id, const plan::PlannedJob& planned) {
    const auto [place, fresh] = index_.try_emplace(planned.plan, plans_.size());
    if (fresh) plans_.push_back({.id = id, .planned = planned});
    return plans_[place->second];
  }

  void add_run(const MeasuredRun& run, const plan::PlannedJob& planned) {
    Known& plan = plan_of(run.id, planned);
    if (run.seconds > 0) {
      plan.log_seconds.push_back(std::log(run.seconds));
      weights_.push_back(run.trust);
      step_plan_.push_back(index_.at(planned.plan));
    }
    plan.failed = plan.failed || run.outcome == MeasuredRunOutcome::kOutOfMemory ||
                  run.outcome == MeasuredRunOutcome::kFailed;
  }

  void add_candidates(const MeasuredRunTable& candidates) {
    for (std::size_t i = 0; i < candidates.plans.size(); ++i) {
      plan_of(candidates.runs[i].id, candidates.plans[i]).candidate = true;
    }
  }

  void set_shares(std::size_t first) {
    parallel_for(threads_, plans_.size() - first, [&](std::size_t i) {
      plans_[first + i].share = share_of(plans_[first + i].planned);
    });
  }

  void learn_memory() {
    for (std::size_t i = 0; i < runs_.runs.size(); ++i) {
      const MeasuredRunOutcome outcome = runs_.runs[i].outcome;
      if (outcome != MeasuredRunOutcome::kOk && outcome != MeasuredRunOutcome::kOutOfMemory)
        continue;
      memory_.update_from_memory_outcome(plan_of({}, runs_.plans[i]).share,
                                         outcome == MeasuredRunOutcome::kOk);
    }
  }

  [[nodiscard]] std::vector<plan::PlannedJob> planned() const {
    std::vector<plan::PlannedJob> list;
    for (const Known& plan : plans_) list.push_back(plan.planned);
    return list;
  }

  /// Learns the constants from the runs, in a few rounds, each linearised around the last result.
  void learn_start() {
    std::vector<const plan::Job*> jobs = {&job_};
    for (const Known& plan : plans_) jobs.push_back(&plan.planned.job);
    learnable_.emplace(cost::applicable_training_conditions(job_), jobs);
    posterior_ = learnable_->prior();
    std::vector<plan::PlannedJob> ran;
    for (const std::size_t plan : step_plan_) ran.push_back(plans_[plan].planned);
    if (ran.empty()) return;
    std::map<std::size_t, std::size_t> seen;
    MeasuredStepTimeLogarithms steps = empty_steps(ran.size());
    for (std::size_t i = 0; i < ran.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      steps.seconds[row] = plans_[step_plan_[i]].log_seconds[seen[step_plan_[i]]++];
      steps.trust[row] = weights_[i];
    }
    for (int round = 0; round < kLearningRounds; ++round) {
      const LinearizedStepTimes around =
          linearize_step_times(ran, *learnable_, posterior_.mean, threads_);
      if (round == 0) before_ = around;
      posterior_ = constant_distribution_after_runs(learnable_->prior(), around, steps);
    }
    now_s_ = linearize_step_times(ran, *learnable_, posterior_.mean, threads_).seconds;
  }

  static MeasuredStepTimeLogarithms empty_steps(std::size_t count) {
    const auto rows = static_cast<Eigen::Index>(count);
    return {.seconds = Eigen::VectorXd::Zero(rows), .trust = Eigen::VectorXd::Ones(rows)};
  }

  /// Finds candidates by a search with the learned conditions and memory.
  void find_candidates() {
    plan::Job job = job_;
    if (const double confidence = memory::memory_fit_confidence(job_); confidence > 0) {
      job.objective.memory_reserve =
          std::max(0.0, 1 - memory_.predicted_peak_share_at_probability(confidence));
    }
    const cost::TrainingConditions conditions = learnable_->at(posterior_.mean, "own runs");
    tune::TuneOptions options = options_.tune;
    options.conditions = &conditions;
    tune::TuneResult result = tune::tune(job, options);
    result.job.objective = job_.objective;
    const std::size_t first = plans_.size();
    for (const tune::TunedPlan& found : result.simulated) {
      if (plans_.size() >= first + kMostFound) break;
      plan_of({}, {result.job, found.plan}).candidate = true;
    }
    set_shares(first);
  }

  /// Returns the distribution of every plan's time from constants and runs; a plan that ran is
  /// known by its runs.
  [[nodiscard]] PlanPosterior posterior_of_plans() const {
    PlanPosterior all{.mean = times_.at(posterior_.mean),
                      .deviation = plan_log_time_deviations(posterior_, times_)};
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const std::vector<double>& runs = plans_[i].log_seconds;
      if (runs.empty()) continue;
      double sum = 0;
      for (const double one : runs) sum += one;
      const auto row = static_cast<Eigen::Index>(i);
      all.mean[row] = sum / static_cast<double>(runs.size());
      all.deviation[row] =
          kRepeatedRunLogTimeDeviation / std::sqrt(static_cast<double>(runs.size()));
    }
    return all;
  }

  [[nodiscard]] double p_fits(std::size_t plan) const {
    if (!plans_[plan].log_seconds.empty()) return 1;
    return plans_[plan].failed ? 0 : memory_.memory_fit_probability(plans_[plan].share);
  }

  /// True if a plan fits with the probability that the job asks for.
  [[nodiscard]] bool fits(std::size_t plan) const {
    const Known& one = plans_[plan];
    if (!one.log_seconds.empty() || one.failed) return !one.log_seconds.empty();
    const double confidence = memory::memory_fit_confidence(job_);
    return confidence > 0 ? p_fits(plan) >= confidence
                          : one.share * memory::device_memory_capacity_bytes(job_) <=
                                memory::usable_memory_bytes(job_);
  }

  [[nodiscard]] PlanWithExpectedTime loop_plan(std::size_t index) const {
    const auto row = static_cast<Eigen::Index>(index);
    const double mean = plan_posterior_.mean[row];
    const double reach = kEighty * plan_posterior_.deviation[row];
    return {.id = plans_[index].id,
            .planned = plans_[index].planned,
            .expected_s = std::exp(mean),
            .low_s = std::exp(mean - reach),
            .high_s = std::exp(mean + reach),
            .p_fits = p_fits(index),
            .ran = !plans_[index].log_seconds.empty()};
  }

  void set_best(MeasuredRunsVerdict& out) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!fits(i)) continue;
      const auto row = static_cast<Eigen::Index>(i);
      if (best &&
          plan_posterior_.mean[row] >= plan_posterior_.mean[static_cast<Eigen::Index>(*best)])
        continue;
      best = i;
    }
    if (best) out.best = loop_plan(*best);
  }

  /// Returns the logarithm of the least measured step time; infinite before any.
  [[nodiscard]] double least_measured() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Known& plan : plans_) {
      for (const double seconds : plan.log_seconds) least = std::min(least, seconds);
    }
    return least;
  }

  /// Returns the expected gain of measuring a plan when the best so far is `best`.
  [[nodiscard]] static double worth(double mean, double deviation, double p_fits, double best) {
    const double z = (best - mean) / deviation;
    const double improvement = deviation * (z * normal_cdf(z) + normal_density(z));
    return p_fits * improvement - (1 - p_fits) * kWorthOfStart;
  }

  void set_next(MeasuredRunsVerdict& out) {
    double best = least_measured();
    const bool nothing_ran = std::isinf(best);
    PlanPosterior now = plan_posterior_;
    LogNormalConstantDistribution distribution = posterior_;
    std::vector<bool> taken(plans_.size(), false);
    while (out.next.size() < options_.next) {
      const auto chosen = choose(now, best, taken);
      if (!chosen) break;
      taken[chosen->first] = true;
      out.next.push_back(loop_plan(chosen->first));
      out.next.back().gain = chosen->second;
      // Learn as if the run had come out as expected: similar plans are then worth less.
      const auto row = static_cast<Eigen::Index>(chosen->first);
      best = std::min(best, now.mean[row]);
      const LinearizedStepTimes one{.around = times_.around,
                                    .seconds = times_.seconds.segment(row, 1),
                                    .slopes = times_.slopes.middleRows(row, 1)};
      distribution = constant_distribution_after_runs(
          distribution, one,
          {.seconds = one.at(distribution.mean), .trust = Eigen::VectorXd::Ones(1)});
      now.deviation = plan_log_time_deviations(distribution, times_);
    }
    out.stop = !nothing_ran && (out.next.empty() || out.next.front().gain < kWorthOfStart);
  }

  /// Returns the open candidate that is most worth measuring. Before any run, it is the one with
  /// the least expected time, including the cost of failed starts.
  [[nodiscard]] std::optional<std::pair<std::size_t, double>> choose(
      const PlanPosterior& now, double best, const std::vector<bool>& taken) const {
    std::optional<std::pair<std::size_t, double>> chosen;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const Known& plan = plans_[i];
      if (!plan.candidate || plan.failed || taken[i] || !plan.log_seconds.empty()) continue;
      const auto row = static_cast<Eigen::Index>(i);
      const double fits = p_fits(i);
      const double value = std::isinf(best) ? fits * (now.mean.maxCoeff() - now.mean[row])
                                            : worth(now.mean[row], now.deviation[row], fits, best);
      if (!chosen || value > chosen->second) chosen = {i, value};
    }
    return chosen;
  }

  void set_runs(MeasuredRunsVerdict& out) const {
    for (const MeasuredRun& run : runs_.runs) {
      if (!(run.seconds > 0)) continue;
      const auto row = static_cast<Eigen::Index>(out.runs.size());
      out.runs.push_back({.line = run.line,
                          .id = run.id,
                          .measured_s = run.seconds,
                          .before_s = std::exp(before_.seconds[row]),
                          .now_s = std::exp(now_s_[row])});
    }
  }

  /// Returns by what share of the runs' step times a constant has moved them.
  [[nodiscard]] double moved(Eigen::Index k) const {
    return before_.slopes.col(k).mean() * (posterior_.mean[k] - learnable_->prior().mean[k]);
  }

  void set_learned(MeasuredRunsVerdict& out) const {
    if (out.runs.empty()) return;
    std::vector<double> errors;
    for (const RunWithPrediction& run : out.runs)
      errors.push_back(std::log(run.measured_s / run.before_s));
    const double wanted = median(errors);
    for (Eigen::Index k = 0; k < learnable_->size(); ++k) {
      if (posterior_.mean[k] == learnable_->prior().mean[k]) continue;
      out.learned.push_back(
          {learnable_->before(k), learnable_->constant_with_logarithm(k, posterior_.mean[k])});
      if (std::abs(moved(k)) > kWorthTelling && moved(k) * wanted < 0) {
        out.contrary.push_back(out.learned.back());
      }
    }
  }

  const plan::Job& job_;
  const MeasuredRunTable& runs_;
  LoopOptions options_;
  int threads_ = 1;
  MemoryErrorPosterior memory_;
  std::vector<Known> plans_;
  std::map<plan::Plan, std::size_t> index_;  ///< Indices into `plans_`, by plan.
  std::vector<std::size_t> step_plan_;       ///< Index of the plan of each measured step.
  std::vector<double> weights_;              ///< Trust in each measured step.
  std::optional<LearnableConstants> learnable_;
  LogNormalConstantDistribution posterior_;
  LinearizedStepTimes before_;  ///< Times of the measured steps before any run; empty: nothing ran.
  /// Logarithms of the times of the measured steps, with the learned constants.
  Eigen::VectorXd now_s_;
  LinearizedStepTimes times_;
  PlanPosterior plan_posterior_;
};

}  // namespace

MeasuredRunsVerdict suggest_plans_to_measure(const plan::Job& job, const MeasuredRunTable& runs,
                                             const MeasuredRunTable* candidates,
                                             const LoopOptions& options) {
  if (!runs.skipped.empty()) require_usable_measured_run(runs, "no row is a run of this job");
  MeasuredRunsVerdict out = Loop(job, runs, candidates, options).run(candidates == nullptr);
  for (const MeasuredRun& run : runs.runs) {
    out.measured += run.seconds > 0 ? 1 : 0;
    out.out_of_memory += run.outcome == MeasuredRunOutcome::kOutOfMemory ? 1 : 0;
    out.failed += run.outcome == MeasuredRunOutcome::kFailed ? 1 : 0;
  }
  out.skipped = runs.skipped;
  if (candidates != nullptr) out.skipped_candidates = candidates->skipped;
  return out;
}

}  // namespace stepwright::learn
