#include "stepwright/tune/choices.h"

namespace stepwright::tune {

void count(RefusedByRule& counts, plan::Rule rule, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(rule)];
  counted = plus(counted, points);
}

void count(NotRunByAbility& counts, plan::Ability ability, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(ability)];
  counted = plus(counted, points);
}

std::optional<plan::Ability> first_unsupported_ability(const SpaceDimensions& space,
                                                       const plan::Job& job,
                                                       const plan::Plan& usual,
                                                       std::span<const plan::Ability> abilities) {
  if (!space.framework) return std::nullopt;
  for (const plan::Ability ability : abilities) {
    if (!space.framework->supports_choice_alone(ability, job, usual)) return ability;
  }
  return std::nullopt;
}

plan::FrameworkSupport::PropertyCoupling applicable_ability_rules(
    const SpaceDimensions& space, std::span<const plan::Ability> abilities, const plan::Job& job,
    const plan::Plan& usual, std::span<collective::Algorithm plan::Collectives::* const> schemes) {
  if (!space.framework) return {};
  return space.framework->joint(abilities, job, usual) | space.framework->joint(schemes, usual);
}

}  // namespace stepwright::tune
