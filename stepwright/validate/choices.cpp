#include "stepwright/validate/choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "stepwright/validate/error_table.h"

namespace stepwright::validate {
namespace {

constexpr std::size_t kLeastPlans = 3;

/// Predicted and measured seconds of a plan, averaged over its runs.
struct Times {
  double predicted = 0;
  double measured = 0;
  double runs = 0;
};

using Group = std::vector<Times>;

Group plans_of(const std::vector<const TableRowPrediction*>& rows) {
  Group plans;
  std::map<std::string_view, std::size_t> known;
  for (const TableRowPrediction* row : rows) {
    const auto [found, added] = known.try_emplace(row->plan, plans.size());
    if (added || row->plan.empty()) plans.emplace_back();
    Times& times = row->plan.empty() ? plans.back() : plans[found->second];
    ++times.runs;
    times.predicted += (row->predicted - times.predicted) / times.runs;
    times.measured += (row->measured - times.measured) / times.runs;
  }
  return plans;
}

bool counts(const Group& group) {
  std::set<double> times;
  for (const Times& plan : group) times.insert(plan.measured);
  return times.size() >= kLeastPlans;
}

double regret_of(const Group& group) {
  const double chosen_s = std::ranges::min_element(group, {}, &Times::predicted)->measured;
  return chosen_s / std::ranges::min_element(group, {}, &Times::measured)->measured - 1;
}

int order(double a, double b) { return (a > b ? 1 : 0) - (a < b ? 1 : 0); }

double tau_of(const Group& group) {
  int agreeing = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      agreeing += order(group[i].predicted, group[j].predicted) *
                  order(group[i].measured, group[j].measured);
    }
  }
  const auto plans = static_cast<double>(group.size());
  return 2 * agreeing / (plans * (plans - 1));
}

}  // namespace

PlanChoiceQuality ranking_quality_of_predictions(std::span<const TableRowPrediction> results) {
  std::map<std::string_view, std::vector<const TableRowPrediction*>> groups;
  for (const TableRowPrediction& row : results) {
    if (!row.alike.empty() && row.measured > 0) groups[row.alike].push_back(&row);
  }
  std::vector<double> regrets;
  std::vector<double> taus;
  for (const auto& [alike, rows] : groups) {
    const Group group = plans_of(rows);
    if (!counts(group)) continue;
    regrets.push_back(regret_of(group));
    taus.push_back(tau_of(group));
  }
  if (regrets.empty()) return {};
  PlanChoiceQuality result{.groups = regrets.size()};
  for (const double regret : regrets) {
    if (regret == 0) ++result.best_chosen;
    result.mean_regret += regret / static_cast<double>(regrets.size());
  }
  result.worst_regret = *std::ranges::max_element(regrets);
  result.median_regret = median(std::move(regrets));
  result.median_tau = median(std::move(taus));
  return result;
}

}  // namespace stepwright::validate
