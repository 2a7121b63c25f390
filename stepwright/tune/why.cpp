#include "stepwright/tune/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <vector>

#include "stepwright/core/format.h"

namespace stepwright {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

/// The words of a plan's text that differ from another's; every text has the same fields.
std::string differences(const Plan& from, const Plan& to) {
  const std::vector<std::string> before = words(plan_text(from));
  const std::vector<std::string> after = words(plan_text(to));
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] != after[i]) changed.push_back(after[i]);
  }
  return fmt::format("{}", fmt::join(changed, " "));
}

}  // namespace

std::array<double, 8> breakdown_terms(const Breakdown& b) {
  return {b.compute_s, b.bubble_s, b.optimizer_s, b.tensor_s,
          b.context_s, b.expert_s, b.pipeline_s,  b.data_s};
}

std::string why_lost(const TunedPlan& winner, const TunedPlan& other) {
  if (winner.plan == other.plan) return {};
  const std::string different = differences(winner.plan, other.plan);
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
