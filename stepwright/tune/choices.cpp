#include "stepwright/tune/choices.h"

namespace stepwright::tune {

void count(RefusedByRule& counts, plan::PlanLegalityRule rule, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(rule)];
  counted = plus(counted, points);
}

void count(NotRunByAbility& counts, plan::FrameworkProperty ability, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(ability)];
  counted = plus(counted, points);
}

std::optional<plan::FrameworkProperty> first_unsupported_property(
    const SearchSpaceDimensions& space, const plan::Job& job, const plan::Plan& usual,
    std::span<const plan::FrameworkProperty> abilities) {
  if (!space.framework) return std::nullopt;
  for (const plan::FrameworkProperty ability : abilities) {
    if (!space.framework->supports_property_value_alone(ability, job, usual)) return ability;
  }
  return std::nullopt;
}

plan::FrameworkSupport::FrameworkPropertyCoupling framework_rules_of_plan_choices(
    const SearchSpaceDimensions& space, std::span<const plan::FrameworkProperty> abilities,
    const plan::Job& job, const plan::Plan& usual,
    std::span<collective::CollectiveAlgorithm plan::CollectiveAlgorithmChoices::* const> schemes) {
  if (!space.framework) return {};
  return space.framework->single_collective_algorithm_rule(abilities, job, usual) |
         space.framework->single_collective_algorithm_rule(schemes, usual);
}

}  // namespace stepwright::tune
