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

/// Number of illegal points of a search space, by the first rule of legal plans that the point
/// breaks.
using RefusedByRule = std::array<std::int64_t, plan::kRules>;
/// Number of points of a search space that the job's framework does not run, by the first ability
/// (kind of choice) that the framework lacks.
using NotRunByAbility = std::array<std::int64_t, plan::kAbilities>;

void count(RefusedByRule& counts, plan::PlanLegalityRule rule, std::int64_t points);
void count(NotRunByAbility& counts, plan::FrameworkProperty ability, std::int64_t points);

/// Returns the first of `abilities` (kinds of choices) for which the job's framework does not run
/// what a canonical plan (unused choices at their defaults) chooses; nullopt if it runs all of
/// them.
std::optional<plan::FrameworkProperty> first_unsupported_property(
    const SearchSpaceDimensions& space, const plan::Job& job, const plan::Plan& usual,
    std::span<const plan::FrameworkProperty> abilities);

/// Returns the lines of the framework's rule file that a canonical plan breaks, or makes apply, by
/// its choices of the kinds `abilities` and by the collective algorithms of the kinds of
/// parallelism `schemes`; empty without a framework.
plan::FrameworkSupport::FrameworkPropertyCoupling framework_rules_of_plan_choices(
    const SearchSpaceDimensions& space, std::span<const plan::FrameworkProperty> abilities,
    const plan::Job& job, const plan::Plan& usual,
    std::span<collective::CollectiveAlgorithm plan::CollectiveAlgorithmChoices::* const> schemes);

}  // namespace stepwright::tune
