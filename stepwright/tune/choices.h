#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "stepwright/plan/laws/legality.h"
#include "stepwright/tune/dimensions.h"

// A rank grid (degrees and rank order) leaves three kinds of choices: of blocks, of stages and of
// data parallelism. Legality of each depends on the grid alone, not on the other two, so they are
// listed once and multiplied. All lists hold canonical choices: no plan appears twice. This file
// has the code that the three kinds share.

namespace stepwright::tune {

/// Number of refused points of a space for each rule; a point counts for the first rule that it
/// breaks.
using RuleCounts = std::array<std::int64_t, plan::kRules>;
/// Number of points that the job's framework does not run, for each ability; a point counts for the
/// first ability that the framework lacks.
using AbilityCounts = std::array<std::int64_t, plan::kAbilities>;

void count(RuleCounts& counts, plan::Rule rule, std::int64_t points);
void count(AbilityCounts& counts, plan::Ability ability, std::int64_t points);

/// Returns the first of these abilities because of which the job's framework does not run a
/// canonical plan; nullopt if it runs the plan as far as they go.
std::optional<plan::Ability> first_unsupported_ability(const SpaceDimensions& space,
                                                       const plan::Job& job,
                                                       const plan::Plan& usual,
                                                       std::span<const plan::Ability> abilities);

/// Returns the lines of the job's framework that a canonical plan breaks or makes hold by these
/// abilities and by the algorithms of these schemes; no lines without a framework.
plan::FrameworkLaw::AbilityCoupling ability_couplings_of_plan(
    const SpaceDimensions& space, std::span<const plan::Ability> abilities, const plan::Job& job,
    const plan::Plan& usual, std::span<collective::Algorithm plan::Collectives::* const> schemes);

}  // namespace stepwright::tune
