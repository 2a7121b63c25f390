#include <algorithm>
#include <array>
#include <limits>

#include "stepwright/tune/tune.h"
#include "stepwright/tune/why.h"

namespace stepwright {
namespace {

double distance(const TunedPlan& a, const TunedPlan& b) {
  const auto left = breakdown_terms(a.breakdown);
  const auto right = breakdown_terms(b.breakdown);
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum += (left[i] - right[i]) * (left[i] - right[i]);
  }
  return sum;
}

}  // namespace

std::vector<TunedPlan> shortlist(const TuneResult& result, std::size_t count) {
  std::vector<TunedPlan> open;
  for (const TunedPlan& plan : result.simulated) {
    if (plan.tied) open.push_back(plan);
  }
  std::vector<TunedPlan> taken;
  std::vector<double> nearest(open.size(), std::numeric_limits<double>::infinity());
  std::vector<bool> used(open.size(), false);
  for (std::size_t next = 0; taken.size() < std::min(count, open.size());) {
    used[next] = true;
    taken.push_back(open[next]);
    for (std::size_t i = 0; i < open.size(); ++i) {
      nearest[i] = used[i] ? -1 : std::min(nearest[i], distance(open[i], open[next]));
    }
    next = static_cast<std::size_t>(std::ranges::max_element(nearest) - nearest.begin());
  }
  return taken;
}

}  // namespace stepwright
