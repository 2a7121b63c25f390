#include "stepwright/tune/choices.h"

namespace stepwright {

void count(RuleCounts& counts, Rule rule, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(rule)];
  counted = plus(counted, points);
}

void count(AbilityCounts& counts, Ability ability, std::int64_t points) {
  std::int64_t& counted = counts[static_cast<std::size_t>(ability)];
  counted = plus(counted, points);
}

std::optional<Ability> not_run_by(const Dimensions& space, const Job& job, const Plan& usual,
                                  std::span<const Ability> abilities) {
  if (!space.framework) return std::nullopt;
  for (const Ability ability : abilities) {
    if (!space.framework->runs_alone(ability, job, usual)) return ability;
  }
  return std::nullopt;
}

FrameworkLaw::Joint joint_of(const Dimensions& space, std::span<const Ability> abilities,
                             const Job& job, const Plan& usual,
                             std::span<Algorithm Collectives::* const> schemes) {
  if (!space.framework) return {};
  return space.framework->joint(abilities, job, usual) | space.framework->joint(schemes, usual);
}

}  // namespace stepwright
