#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// What training frameworks differ in: choices of a plan, then those of its job.
enum class Ability : std::uint8_t {
  kParallel,  ///< Degrees that may be above 1.
  kSchedule,
  kLayers,  ///< How unlike the chunks of a pipeline may be.
  kSequenceParallel,
  kTensorInput,
  kContextKind,
  kSharding,
  kRecompute,
  kOverlap,     ///< Communication that may run beside computation.
  kAlgorithms,  ///< Of collectives, of any scheme.
  kRankOrder,
  kDispatcher,
  kPrecision,
  kAttention,  ///< Kernels of the attention core.
};
inline constexpr Named<Ability> kAbilityNames[] = {
    {Ability::kParallel, "parallel"},
    {Ability::kSchedule, "schedule"},
    {Ability::kLayers, "layers"},
    {Ability::kSequenceParallel, "sequence_parallel"},
    {Ability::kTensorInput, "tensor_input"},
    {Ability::kContextKind, "context_kind"},
    {Ability::kSharding, "sharding"},
    {Ability::kRecompute, "recompute"},
    {Ability::kOverlap, "overlap"},
    {Ability::kAlgorithms, "collectives"},
    {Ability::kRankOrder, "rank_order"},
    {Ability::kDispatcher, "dispatcher"},
    {Ability::kPrecision, "precision"},
    {Ability::kAttention, "attention"}};
inline constexpr std::size_t kAbilities = std::size(kAbilityNames);

/// Whether it is a plan that chooses, and not its job.
constexpr bool of_plan(Ability ability) { return ability <= Ability::kRankOrder; }

/// Words of an ability, each by its place in `ability_words`.
using WordSet = std::bitset<128>;

/// The words that plans and jobs have for an ability, as in their files; of `layers` `equal` (all
/// chunks have as many), `nearly` (the even split with a remainder) and `any` (a list).
const std::vector<std::string>& ability_words(Ability ability);

/// "1f1b, interleaved"; "none" of no words, "any" of all of many.
std::string words_text(Ability ability, const WordSet& words);

/// Bits of the degrees above 1, in the order of the words of `kParallel`.
using DegreeSet = std::size_t;
DegreeSet degrees_above_one(const Parallel& parallel);

/// The words that a plan takes; none where the choice has no effect (the kind of context
/// parallelism of one rank). The plan is canonical, and legal as far as the ability asks.
WordSet taken_words(Ability ability, const Job& job, const Plan& plan);

/// The overlap of which only these words of `kOverlap` stay on.
Overlap overlap_within(Overlap overlap, const WordSet& words);

}  // namespace stepwright
