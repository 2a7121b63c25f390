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

namespace stepwright::plan {

/// The things in which training frameworks differ: choices of a plan, then those of its job.
enum class Ability : std::uint8_t {
  kParallel,  ///< Degrees that may be above 1.
  kSchedule,
  kLayers,  ///< How unlike the chunks of a pipeline may be.
  kSequenceParallel,
  kTensorInput,
  kContextKind,
  kSharding,
  kGroups,      ///< How groups that share states lie.
  kAccumulate,  ///< Gradients in the type that is computed in, or in a wider one.
  kRecompute,
  kOffload,          ///< States that may lie on the host.
  kHostActivations,  ///< Activations of these modules.
  kOverlap,          ///< Communication that may run beside computation.
  kExposed,          ///< Communication that may be kept from it.
  kAlgorithms,       ///< Algorithms of the collectives of any scheme.
  kAlgorithmScope,   ///< One algorithm for the collectives of all schemes, or one for each.
  kRankOrder,
  kDispatcher,
  kPrecision,
  kOptimizer,
  kModel,      ///< Features of models beyond a plain Llama.
  kTrained,    ///< All weights, or a part of them.
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
    {Ability::kGroups, "sharding_groups"},
    {Ability::kAccumulate, "accumulate"},
    {Ability::kRecompute, "recompute"},
    {Ability::kOffload, "offload"},
    {Ability::kHostActivations, "host_activations"},
    {Ability::kOverlap, "overlap"},
    {Ability::kExposed, "exposed"},
    {Ability::kAlgorithms, "collectives"},
    {Ability::kAlgorithmScope, "collectives_scope"},
    {Ability::kRankOrder, "rank_order"},
    {Ability::kDispatcher, "dispatcher"},
    {Ability::kPrecision, "precision"},
    {Ability::kOptimizer, "optimizer"},
    {Ability::kModel, "model"},
    {Ability::kTrained, "trained"},
    {Ability::kAttention, "attention"}};
inline constexpr std::size_t kAbilities = std::size(kAbilityNames);

/// Whether it is a plan that chooses, and not its job.
constexpr bool of_plan(Ability ability) { return ability <= Ability::kRankOrder; }

/// Words of an ability, each by its place in `ability_words`.
using WordSet = std::bitset<128>;

/// The words that plans and jobs have for an ability, as in their files. Of `layers` `equal` (all
/// chunks have as many), `nearly` (the even split with a remainder), `any` (a list) and `hollow` (a
/// chunk between the first and the last has none). Of `schedule` `two-strands` (a forward beside a
/// backward), `one-position` (another order than 1f1b's of one position), `even-groups` (as many
/// groups of micro-batches as can be, all alike, each of more than there are positions) and
/// `any-groups` (other groups than of as many micro-batches as positions). Of `collectives_scope`
/// `run` (schemes take one algorithm) and `scheme` (they differ). Of `offload` `optimizer` (all of
/// it), `share` (a part of it), `device_masters` (but for the copies that updates compute with) and
/// `parameters` (with gradients and all of the optimizer). Of `sharding_groups`
/// `other_instances` (experts share states in more or fewer groups than the rest), `cut_context` (a
/// group ends inside a group of context parallelism), `within_context` (states are shared over
/// context and experts alone), `single` (every state is on one rank), `experts_cut_alone` (an
/// expert-tensor degree without an expert degree), `experts_cut_apart` (without an expert degree
/// experts are not cut as the rest), `cut_nodes` (an axis of the mesh fills a node by a fraction)
/// and `copied_context` (copies share states over context alone). Of `trained` `whole` (all
/// weights), `adapters`, `narrow_base` (quantised weights below them) and `frozen` (parts that are
/// not trained).
const std::vector<std::string>& ability_words(Ability ability);

/// "1f1b, interleaved"; "none" of no words; of many "any" for all, and "all but tied" for most.
std::string words_text(Ability ability, const WordSet& words);

/// Bits of the degrees above 1, in the order of the words of `kParallel`.
using DegreeSet = std::size_t;
DegreeSet degrees_above_one(const Parallel& parallel);

/// The words that a plan takes; none where the choice has no effect (the kind of context
/// parallelism of one rank). The plan is canonical, and legal as far as the ability asks.
WordSet taken_words(Ability ability, const Job& job, const Plan& plan);

/// Returns the schemes of `Collectives` whose groups have more than one rank in this plan.
std::vector<collective::Algorithm Collectives::*> active_schemes(const Plan& plan);

/// Words of `kGroups` that depend on all degrees of a plan.
WordSet words_of_degrees();

/// The overlap of which only these words of `kOverlap` stay on.
Overlap overlap_within(Overlap overlap, const WordSet& words);

}  // namespace stepwright::plan
