#include "stepwright/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/memory/memory.h"
#include "stepwright/tune/baseline.h"
#include "stepwright/tune/confirm.h"
#include "stepwright/tune/empty_space.h"
#include "stepwright/tune/fixed_cluster.h"
#include "stepwright/tune/search.h"
#include "stepwright/tune/why.h"

namespace stepwright {
namespace {

/// Plans kept by price, at least.
constexpr std::size_t kKeep = 100;
/// Searches with less and less memory when prices said "fits" and the programs do not.
constexpr int kMemoryTries = 3;

double device_capacity(const Job& job) {
  const double limit = job.objective.memory_limit_bytes;
  return limit > 0 ? limit : job.cluster.device.memory_bytes;
}

int thread_count(const TuneOptions& options) {
  if (options.threads > 0) return options.threads;
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// One search and what simulating its best showed.
struct Answer {
  explicit Answer(std::size_t keep) : found(keep) {}
  Findings found;
  Confirmed confirmed;
};

class Tuning {
 public:
  Tuning(const Job& job, const TuneOptions& options)
      : job_(job),
        options_(options),
        cost_(job),
        space_(dimensions(job)),
        census_(job, space_),
        running_{.threads = thread_count(options), .progress = options.progress},
        goal_{.capacity_bytes = device_capacity(job),
              .keep = std::max(options.top, kKeep),
              .exhaustive = options.exhaustive} {
    if (census_.legal() == 0) fail_empty(job, census_);
  }

  TuneResult run() {
    TuneResult result;
    result.job = job_;
    result.notes.push_back(fmt::format("cost constants: {} (stated error {:.0f} %)", cost_.fit(),
                                       100 * cost_.stated_error()));
    Answer answer = search(result);
    if (answer.confirmed.plans.empty()) answer = smallest(result);
    set_plans(result, answer.confirmed);
    set_counts(result, answer);
    set_gap(result, answer);
    set_pareto(result, answer.found.kept);
    set_baseline(result);
    return result;
  }

 private:
  Answer attempt() {
    Answer answer(goal_.keep);
    answer.found = search_plans(job_, cost_, census_, goal_, running_);
    answer.confirmed =
        confirm(job_, cost_, answer.found.kept.list(),
                goal_.least_memory ? 1 : std::max<std::size_t>(1, options_.simulations), running_);
    return answer;
  }

  /// Searches, again with less memory as long as no plan kept turns out to fit.
  Answer search(TuneResult& result) {
    Answer answer = attempt();
    for (int i = 1; i < kMemoryTries; ++i) {
      const Confirmed& confirmed = answer.confirmed;
      if (!confirmed.plans.empty() || confirmed.too_large.empty()) break;
      double least = std::numeric_limits<double>::infinity();
      for (const TunedPlan& plan : confirmed.too_large) {
        least = std::min(least, plan.peak_memory_bytes);
      }
      goal_.capacity_bytes *= device_capacity(job_) / least;
      result.notes.push_back(
          "the best plans by price fit by their closed form, not by their program: searched again "
          "with less memory");
      answer = attempt();
    }
    return answer;
  }

  /// No plan fits: the one that needs least memory.
  Answer smallest(TuneResult& result) {
    goal_.least_memory = true;
    goal_.keep = 1;
    Answer answer = attempt();
    Confirmed& confirmed = answer.confirmed;
    if (confirmed.plans.empty()) confirmed.plans.swap(confirmed.too_large);
    if (confirmed.plans.empty()) {
      const auto& reasons =
          confirmed.unsupported.empty() ? answer.found.unsupported : confirmed.unsupported;
      fail_unsupported(reasons.empty() ? "no plan of the space is supported"
                                       : reasons.begin()->first);
    }
    const double peak = confirmed.plans.front().peak_memory_bytes;
    const double capacity = device_capacity(job_);
    if (peak > capacity) {
      result.notes.push_back(
          fmt::format("no plan of the space fits in {}: the smallest needs {}, {} more",
                      format_bytes(capacity), format_bytes(peak), format_bytes(peak - capacity)));
    }
    return answer;
  }

  void set_plans(TuneResult& result, Confirmed& confirmed) const {
    std::vector<TunedPlan>& plans = confirmed.plans;
    const TunedPlan winner = plans.front();
    for (TunedPlan& plan : plans) {
      plan.tied = plan.step_time_s <= winner.step_time_s * (1 + cost_.stated_error());
      plan.lost = why_lost(winner, plan);
    }
    result.simulated = std::move(plans);
    const std::size_t count =
        std::min(std::max<std::size_t>(1, options_.top), result.simulated.size());
    result.plans.assign(result.simulated.begin(),
                        result.simulated.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void set_counts(TuneResult& result, const Answer& answer) const {
    SpaceCounts& space = result.space;
    std::int64_t unsupported = 0;
    for (const auto* reasons : {&answer.found.unsupported, &answer.confirmed.unsupported}) {
      for (const auto& [reason, count] : *reasons) {
        result.rejected.push_back({std::string(kUnsupportedRule), reason, count});
      }
    }
    for (const auto& [reason, count] : answer.found.unsupported) unsupported += count;
    for (std::size_t i = 0; i < kRules; ++i) {
      const std::int64_t count = census_.refused()[i];
      const auto rule = static_cast<Rule>(i);
      if (count > 0) {
        result.rejected.push_back(
            {std::string(rule_name(rule)), std::string(rule_sentence(rule)), count});
      }
    }
    std::ranges::stable_sort(result.rejected, std::ranges::greater{}, &Refusal::count);
    space.total = census_.total();
    space.legal = census_.legal() - unsupported;
    space.duplicates = census_.duplicates();
    space.priced = answer.found.priced;
    space.fitting = answer.found.fitting;
    space.bounded = space.legal - space.priced;
    space.simulated = answer.confirmed.simulated;
  }

  void set_gap(TuneResult& result, const Answer& answer) const {
    if (goal_.least_memory) return;
    const double best = result.plans.front().step_time_s;
    const double open = std::min({answer.found.passed_bound_s, answer.found.kept.dropped_bound(),
                                  answer.confirmed.open_bound_s});
    result.optimality_gap = std::max(0.0, (best - open) / best);
  }

  /// Prices only bound memory, so that what is shown is accounted.
  void set_pareto(TuneResult& result, const BestPlans& kept) const {
    double least =
        goal_.least_memory ? std::numeric_limits<double>::infinity() : device_capacity(job_) + 1;
    for (const Candidate& candidate : kept.list()) {
      if (candidate.price.memory_bytes >= least) continue;
      const std::optional<double> bytes = accounted_bytes(candidate.plan);
      if (!bytes || *bytes >= least) continue;
      least = *bytes;
      result.pareto.push_back({candidate.plan, candidate.price.seconds, least});
    }
  }

  /// Nothing for what no builder covers.
  [[nodiscard]] std::optional<double> accounted_bytes(const Plan& plan) const {
    try {
      return memory_report(job_, build_program(job_, plan)).peak_bytes;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
      return std::nullopt;
    }
  }

  void set_baseline(TuneResult& result) const {
    result.baseline = rule_of_thumb(job_, cost_, device_capacity(job_));
    if (result.baseline) {
      result.speedup_over_baseline =
          result.baseline->step_time_s / result.plans.front().step_time_s;
    } else {
      result.notes.push_back("the rule of thumb finds no plan that fits");
    }
  }

  const Job& job_;
  const TuneOptions& options_;
  CostModel cost_;
  Dimensions space_;
  Census census_;
  Running running_;
  Goal goal_;
};

}  // namespace

TuneResult tune_on_cluster(const Job& job, const TuneOptions& options) {
  return Tuning(job, options).run();
}

TuneResult tune(const Job& job, const TuneOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  TuneResult result = job.objective.kind == ObjectiveKind::kSmallestCluster
                          ? tune_smallest_cluster(job, options)
                          : tune_on_cluster(job, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace stepwright
