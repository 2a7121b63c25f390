#include "stepwright/whole_run/simulated_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace stepwright::whole_run {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Simulates one run, event by event.
class PlayedRun {
 public:
  PlayedRun(const TrainingRunParameters& process, std::mt19937_64& random,
            RepairTimeDistribution repairs)
      : process_(process), random_(random), repairs_(repairs) {}

  TrainingRunTime play() {
    plan_failure();
    while (saved_ < process_.steps) {
      if (!advance()) recover();
    }
    time_.wall_s = now_;
    account();
    return time_;
  }

 private:
  double& loss(RunTimeLossCause which) { return time_.losses_s[static_cast<std::size_t>(which)]; }

  /// Draws from the exponential distribution; the same numbers on every machine.
  double wait_for(double mean) {
    const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
    return -std::log1p(-uniform) * mean;
  }

  void plan_failure() {
    failure_ = process_.failures_per_s > 0 ? now_ + wait_for(1 / process_.failures_per_s) : kNever;
  }

  /// Lets time pass; false if a failure comes first.
  bool pass(double seconds) {
    if (now_ + seconds > failure_) {
      now_ = failure_;
      return false;
    }
    now_ += seconds;
    return true;
  }

  /// Makes the last written checkpoint the saved one, if its write has ended.
  void commit() {
    if (written_at_ > now_) return;
    saved_ = copied_;
    written_at_ = kNever;
  }

  [[nodiscard]] double work_s(std::int64_t from, std::int64_t to) const {
    const std::int64_t evaluations =
        to / process_.evaluation_every - from / process_.evaluation_every;
    return static_cast<double>(to - from) * (process_.step_s + process_.straggling_s) +
           static_cast<double>(evaluations) * process_.evaluation_s;
  }

  /// Runs from one checkpoint to the next; after the last step, until it is written. False: a
  /// failure came.
  bool advance() {
    const std::int64_t every = process_.checkpoint_every;
    const std::int64_t next = std::min((step_ / every + 1) * every, process_.steps);
    if (!pass(work_s(step_, next))) return false;
    step_ = next;
    if (!finish_write() || !pass(process_.copy_s)) return false;
    copied_ = step_;
    written_at_ = now_ + process_.write_s;
    commit();
    return step_ < process_.steps || finish_write();
  }

  bool finish_write() {
    commit();
    if (written_at_ == kNever) return true;
    if (!pass(written_at_ - now_)) return false;
    now_ = written_at_;
    commit();
    return true;
  }

  /// After a failure: gets another node, and restarts until one restart succeeds.
  void recover() {
    commit();
    written_at_ = kNever;
    step_ = saved_;
    bool running = false;
    while (!running) {
      ++time_.failures;
      replace_node();
      plan_failure();
      const double start = now_;
      running = pass(process_.restart_s);
      loss(RunTimeLossCause::kRestarts) += now_ - start;
    }
  }

  void replace_node() {
    if (process_.repair_s == 0) return;
    std::erase_if(returns_, [&](double at) { return at <= now_; });
    returns_.insert(now_ + (repairs_ == RepairTimeDistribution::kFixed
                                ? process_.repair_s
                                : wait_for(process_.repair_s)));
    if (std::ssize(returns_) <= process_.spare_nodes) return;
    loss(RunTimeLossCause::kWaiting) += *returns_.begin() - now_;
    now_ = *returns_.begin();
    returns_.erase(returns_.begin());
  }

  /// Adds up the losses whose times are known; the rest of the time is lost work.
  void account() {
    const auto steps = static_cast<double>(process_.steps);
    const std::int64_t every = std::min(process_.checkpoint_every, process_.steps);
    const std::int64_t copies = (process_.steps + every - 1) / every;
    loss(RunTimeLossCause::kStragglers) = steps * process_.straggling_s;
    loss(RunTimeLossCause::kEvaluation) =
        work_s(0, process_.steps) - steps * (process_.step_s + process_.straggling_s);
    double planned = 0;
    double written = 0;
    for (std::int64_t i = 0; i < copies; ++i) {
      const std::int64_t end = std::min((i + 1) * every, process_.steps);
      planned = std::max(planned + work_s(i * every, end), written) + process_.copy_s;
      written = planned + process_.write_s;
    }
    loss(RunTimeLossCause::kCheckpoints) = written - work_s(0, process_.steps);
    loss(RunTimeLossCause::kLostWork) =
        now_ - written - loss(RunTimeLossCause::kRestarts) - loss(RunTimeLossCause::kWaiting);
  }

  const TrainingRunParameters& process_;
  std::mt19937_64& random_;
  RepairTimeDistribution repairs_;
  TrainingRunTime time_;
  double now_ = 0;
  double failure_ = kNever;
  /// Time at which the checkpoint being written becomes the saved one.
  double written_at_ = kNever;
  std::int64_t step_ = 0;          ///< Number of steps done.
  std::int64_t copied_ = 0;        ///< Number of steps in the copied checkpoint.
  std::int64_t saved_ = 0;         ///< Number of steps in the saved checkpoint.
  std::multiset<double> returns_;  ///< Times at which failed nodes come back.
};

}  // namespace

double SimulatedRuns::mean_wall_time_error_s() const {
  return mean.deviation_s / std::sqrt(static_cast<double>(runs));
}

SimulatedRuns simulate_whole_runs(const TrainingRunParameters& process, std::int64_t runs,
                                  std::uint64_t seed, RepairTimeDistribution repairs) {
  std::mt19937_64 random(seed);
  SimulatedRuns result{.runs = runs};
  std::vector<double> walls;
  const double share = 1 / static_cast<double>(runs);
  for (std::int64_t i = 0; i < runs; ++i) {
    const TrainingRunTime one = PlayedRun(process, random, repairs).play();
    walls.push_back(one.wall_s);
    result.mean.wall_s += one.wall_s * share;
    result.mean.failures += one.failures * share;
    for (std::size_t k = 0; k < one.losses_s.size(); ++k) {
      result.mean.losses_s[k] += one.losses_s[k] * share;
    }
  }
  double squares = 0;
  for (const double wall : walls) squares += std::pow(wall - result.mean.wall_s, 2);
  result.mean.deviation_s = std::sqrt(squares / std::max(1.0, static_cast<double>(runs) - 1));
  std::ranges::sort(walls);
  result.low_s = walls[static_cast<std::size_t>(runs / 10)];
  result.high_s = walls[static_cast<std::size_t>(runs - 1 - runs / 10)];
  return result;
}

}  // namespace stepwright::whole_run
