#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/tune/fixed_cluster.h"

namespace stepwright::tune {
namespace {

/// Steps into which the interval between a power of two that misses the target and the next that
/// meets it is cut.
constexpr std::int64_t kCuts = 8;

double target_time(const plan::Job& job) {
  const plan::Objective& objective = job.objective;
  if (objective.target_step_time_s > 0) return objective.target_step_time_s;
  if (objective.target_tokens_per_s > 0) return job.tokens() / objective.target_tokens_per_s;
  fail_input(
      "objective smallest_cluster needs a target: target_step_time_s or target_tokens_per_s");
}

plan::Job with_nodes(const plan::Job& job, std::int64_t nodes) {
  plan::Job other = job;
  other.cluster.nodes = nodes;
  return other;
}

bool meets(const TuneResult& result, double target_s) {
  return result.plans.front().fits && result.plans.front().step_time_s <= target_s;
}

/// True if a plan was found that meets the target.
bool meets(const TuneOutcome& outcome, double target_s) {
  const auto* result = std::get_if<TuneResult>(&outcome);
  return result != nullptr && meets(*result, target_s);
}

std::vector<std::int64_t> powers_below(std::int64_t nodes) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count < nodes; count *= 2) counts.push_back(count);
  counts.push_back(nodes);
  return counts;
}

/// Returns counts strictly between two, ascending.
std::vector<std::int64_t> between(std::int64_t low, std::int64_t high) {
  const std::int64_t step = std::max<std::int64_t>(1, (high - low) / kCuts);
  std::vector<std::int64_t> counts;
  for (std::int64_t count = low + step; count < high; count += step) counts.push_back(count);
  return counts;
}

void say_result(TuneResult& result, double target_s, std::int64_t largest) {
  const TunedPlan& best = result.plans.front();
  if (meets(result, target_s)) {
    result.notes.push_back(
        fmt::format("{} nodes are the fewest found on which a step takes at most {}.",
                    result.job.cluster.nodes, format_time(target_s)));
    return;
  }
  result.target_met = false;
  result.notes.push_back(fmt::format(
      "The target of {} per step is missed even on all {} nodes: the best step takes {}, {:.2f} "
      "times as long.",
      format_time(target_s), largest, format_time(best.step_time_s), best.step_time_s / target_s));
}

}  // namespace

TuneOutcome tune_smallest_cluster(const plan::Job& job, const TuneOptions& options) {
  const double target_s = target_time(job);
  std::int64_t missed = 0;
  std::int64_t upper = 0;
  TuneOutcome found;
  for (const std::int64_t nodes : powers_below(job.cluster.nodes)) {
    const plan::Job part = with_nodes(job, nodes);
    // on all nodes, since its best plan is shown even if it misses the target
    const bool all = nodes == job.cluster.nodes;
    found = all ? tune_on_cluster(part, options)
                : tune_on_cluster_within_step_time(part, target_s, options);
    upper = nodes;
    if (meets(found, target_s)) break;
    missed = nodes;
  }
  if (meets(found, target_s)) {
    for (const std::int64_t nodes : between(missed, upper)) {
      TuneOutcome smaller =
          tune_on_cluster_within_step_time(with_nodes(job, nodes), target_s, options);
      if (!meets(smaller, target_s)) continue;
      found = std::move(smaller);
      break;
    }
  }
  if (auto* result = std::get_if<TuneResult>(&found)) {
    say_result(*result, target_s, job.cluster.nodes);
  }
  return found;
}

}  // namespace stepwright::tune
