#include "stepwright/plan/legality.h"

#include <fmt/format.h>

#include "stepwright/plan/laws.h"
#include "stepwright/plan/repair.h"

namespace stepwright {
namespace {

/// The first broken law; null pointer when there is none.
const Law* broken_law(const Job& job, const Plan& plan) {
  for (const auto laws : {grid_laws(), cut_laws(), expert_laws(), schedule_laws(), state_laws()}) {
    for (const Law& law : laws) {
      if (law.broken(job, plan)) return &law;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view rule_name(Rule rule) { return name_of(kRuleNames, rule); }

std::optional<Rule> broken_rule(const Job& job, const Plan& plan) {
  const Law* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  return law->rule;
}

std::optional<Rejected> illegal(const Job& job, const Plan& plan) {
  const Law* law = broken_law(job, plan);
  if (law == nullptr) return std::nullopt;
  Repairs repairs(job, plan, law->rule);
  law->repair(repairs);
  return Rejected{
      law->rule,
      fmt::format("{}: {}; {}", rule_name(law->rule), law->values(job, plan), repairs.advice()),
      repairs.found()};
}

}  // namespace stepwright
