#include "stepwright/tune/why.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/plan/repair.h"

namespace stepwright {
namespace {

constexpr std::array<const char*, 8> kTermNames = {
    "computation",
    "pipeline bubble",
    "optimizer",
    "exposed tensor communication",
    "exposed context communication",
    "exposed expert communication",
    "exposed pipeline communication",
    "exposed data-parallel communication"};

}  // namespace

std::array<double, 8> breakdown_terms(const Breakdown& b) {
  return {b.compute_s, b.bubble_s, b.optimizer_s, b.tensor_s,
          b.context_s, b.expert_s, b.pipeline_s,  b.data_s};
}

std::string why_lost(const TunedPlan& winner, const TunedPlan& other) {
  if (winner.plan == other.plan) return {};
  const std::string different = changes(winner.plan, other.plan);
  const double behind = other.step_time_s - winner.step_time_s;
  if (!(behind > 0)) return fmt::format("equally fast with {}", different);
  const auto best = breakdown_terms(winner.breakdown);
  const auto here = breakdown_terms(other.breakdown);
  std::size_t most = 0;
  for (std::size_t i = 1; i < best.size(); ++i) {
    if (here[i] - best[i] > here[most] - best[most]) most = i;
  }
  return fmt::format("{} slower ({}): {} is {} instead of {}, with {}", format_time(behind),
                     format_percent(behind / winner.step_time_s), kTermNames[most],
                     format_time(here[most]), format_time(best[most]), different);
}

}  // namespace stepwright
