#include "stepwright/tune/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "stepwright/core/format.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/breakdown_terms.h"

namespace stepwright::tune {
namespace {

/// Differences below this share of the best plan's time or memory are left out.
constexpr double kTold = 1e-3;
/// Number of terms of the breakdown that are listed as better and as worse.
constexpr std::size_t kToldTerms = 2;

/// Sorts differences: less than the best plan goes to `wins`, more goes to `loses`.
class Verdict {
 public:
  explicit Verdict(AlternativePlan& alternative) : alternative_(alternative) {}

  void time(double more_s, double best_s) {
    if (std::abs(more_s) <= kTold * best_s) return;
    list_of(more_s).push_back(fmt::format("{} {} ({})", format_time(std::abs(more_s)),
                                          more_s < 0 ? "faster" : "slower",
                                          format_percent(std::abs(more_s) / best_s)));
  }

  void memory(double more_bytes, double best_bytes) {
    if (std::abs(more_bytes) <= kTold * best_bytes) return;
    list_of(more_bytes)
        .push_back(fmt::format("{} {} memory", format_bytes(std::abs(more_bytes)),
                               more_bytes < 0 ? "less" : "more"));
  }

  /// Adds the breakdown terms that differ most, the largest difference first.
  void terms(const simulate::StageTimeBreakdown& best, const simulate::StageTimeBreakdown& here,
             double best_s) {
    const auto before = simulate::breakdown_terms(best);
    const auto after = simulate::breakdown_terms(here);
    std::vector<std::pair<double, std::size_t>> more;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double difference = after[i] - before[i];
      if (std::abs(difference) > kTold * best_s) more.emplace_back(difference, i);
    }
    std::ranges::stable_sort(more, std::ranges::greater{},
                             [](const auto& entry) { return std::abs(entry.first); });
    std::size_t told[2] = {};
    for (const auto& [difference, i] : more) {
      if (told[difference > 0 ? 1 : 0]++ >= kToldTerms) continue;
      list_of(difference)
          .push_back(fmt::format("{} {} {}", simulate::kTermNames[i],
                                 format_time(std::abs(difference)),
                                 difference < 0 ? "shorter" : "longer"));
    }
  }

 private:
  std::vector<std::string>& list_of(double more) {
    return more < 0 ? alternative_.wins : alternative_.loses;
  }

  AlternativePlan& alternative_;
};

AlternativePlan weighed(const TunedPlan& best, const TunedPlan& tuned, std::string family) {
  AlternativePlan alternative{.family = std::move(family), .tuned = tuned, .wins = {}, .loses = {}};
  Verdict verdict(alternative);
  verdict.time(tuned.step_time_s - best.step_time_s, best.step_time_s);
  verdict.memory(tuned.peak_memory_bytes - best.peak_memory_bytes, best.peak_memory_bytes);
  verdict.terms(best.breakdown, tuned.breakdown, best.step_time_s);
  return alternative;
}

}  // namespace

std::string user_visible_plan_traits_text(const plan::Plan& plan) {
  const plan::ParallelismDegrees& degrees = plan.parallel;
  std::string text;
  const auto add = [&](std::string_view name, std::int64_t size) {
    if (size > 1) text += fmt::format("{} {}, ", name, size);
  };
  add("tensor", degrees.tensor);
  add("context", degrees.context);
  add("expert", degrees.expert);
  add("expert_tensor", degrees.expert_tensor);
  if (degrees.pipeline > 1) {
    text += fmt::format("pipeline {} ({}), ", degrees.pipeline,
                        name_of(schedule::kScheduleKindNames, plan.schedule.kind));
  }
  return text + fmt::format("data {}, {}, recompute {}", degrees.data,
                            plan::sharding_letters(plan.sharding),
                            plan::recompute_setting_text(plan.recompute));
}

int parallelism_kind_count(const plan::ParallelismDegrees& parallel) {
  const std::array sizes{parallel.tensor, parallel.context, parallel.pipeline, parallel.expert};
  return static_cast<int>(std::ranges::count_if(sizes, [](std::int64_t size) { return size > 1; }));
}

bool has_fewer_parallelism_kinds(const plan::Plan& plan, const plan::Plan& than) {
  return parallelism_kind_count(plan.parallel) < parallelism_kind_count(than.parallel);
}

std::vector<AlternativePlan> fastest_plan_of_each_family(const TuneResult& result,
                                                         std::size_t most) {
  const TunedPlan& best = result.plans.front();
  std::set<std::string> seen = {user_visible_plan_traits_text(best.plan)};
  std::vector<AlternativePlan> list;
  for (const TunedPlan& tuned : result.simulated) {
    if (list.size() == most) break;
    if (tuned.verdict == memory::MemoryFitVerdict::kDoesNotFit) continue;
    std::string family = user_visible_plan_traits_text(tuned.plan);
    if (seen.insert(family).second) list.push_back(weighed(best, tuned, std::move(family)));
  }
  return list;
}

}  // namespace stepwright::tune
