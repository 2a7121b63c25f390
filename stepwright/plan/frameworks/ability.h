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

/// The properties in which training frameworks differ: first choices of a plan, then choices of its
/// job.
enum class Ability : std::uint8_t {
  kParallel,  ///< Degrees of parallelism that may be above 1.
  kSchedule,
  kLayers,  ///< How much the chunks of a pipeline may differ in layers.
  kSequenceParallel,
  kTensorInput,
  kContextKind,
  kSharding,
  kGroups,      ///< How groups of ranks that share states may lie on the rank grid.
  kAccumulate,  ///< Type of accumulated gradients: that of the computation, or a wider one.
  kRecompute,
  kOffload,          ///< Model states that may be kept in host memory.
  kHostActivations,  ///< Modules whose activations may be kept in host memory.
  kOverlap,          ///< Communication that may overlap computation.
  kExposed,          ///< Communication that may be kept from overlapping computation.
  kAlgorithms,       ///< Algorithms that the collectives of any scheme may use.
  kAlgorithmScope,   ///< Whether all schemes use one collective algorithm, or each its own.
  kRankOrder,
  kDispatcher,
  kPrecision,
  kOptimizer,
  kModel,      ///< Model features that a plain Llama lacks.
  kTrained,    ///< Whether all weights are trained, or a part of them.
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

/// True if the ability is a choice of a plan; false: of its job.
constexpr bool of_plan(Ability ability) { return ability <= Ability::kRankOrder; }

/// A set of words of an ability; each bit is a word's index in `ability_words`.
using WordSet = std::bitset<128>;

/// Returns the words of an ability, as in plan and job files; these abilities have words of their
/// own. `layers`: `equal` (all chunks have equally many), `nearly` (the even split with a
/// remainder), `any` (a list) and `hollow` (a chunk between the first and the last has none).
/// `schedule`: `two-strands` (a forward beside a backward), `one-position` (on one position, an
/// order other than 1f1b's), `even-groups` (as many equal groups of micro-batches as possible, each
/// larger than the number of positions) and `any-groups` (groups whose size is not the number of
/// positions). `collectives_scope`: `run` (schemes use one algorithm) and `scheme` (they differ).
/// `offload`: `optimizer` (all of it), `share` (a part of it), `device_masters` (all except master
/// copies) and `parameters` (with gradients and the whole optimizer). `sharding_groups`:
/// `other_instances` (experts share states in more or fewer groups than the other parameters),
/// `cut_context` (a group ends inside a context-parallel group), `within_context` (states are
/// shared only over context and experts), `single` (every state is on one rank),
/// `experts_cut_alone` (an expert-tensor degree without an expert degree), `experts_cut_apart`
/// (without an expert degree, experts are not split as the other parameters), `cut_nodes` (an axis
/// of the mesh fills a fraction of a node) and `copied_context` (copies share states only over
/// context). `trained`: `whole` (all weights), `adapters`, `narrow_base` (quantised weights below
/// them) and `frozen` (parts that are not trained).
const std::vector<std::string>& ability_words(Ability ability);

/// Writes a set of words as "1f1b, interleaved"; "none" if it is empty. If an ability has many
/// words: "any" for all of them, "all but tied" for most.
std::string words_text(Ability ability, const WordSet& words);

/// A set of parallelism degrees that are above 1, one bit each, in the order of the words of
/// `kParallel`.
using DegreeSet = std::size_t;
DegreeSet degrees_above_one(const Parallel& parallel);

/// Returns the words that a plan chooses for an ability; empty if the choice has no effect (the
/// kind of context parallelism on one rank). The plan must be canonical, and legal as far as the
/// ability depends on it.
WordSet taken_words(Ability ability, const Job& job, const Plan& plan);

/// Returns the schemes of `Collectives` whose groups have more than one rank in this plan.
std::vector<collective::Algorithm Collectives::*> active_schemes(const Plan& plan);

/// Returns the words of `kGroups` that depend on all degrees of a plan.
WordSet words_of_degrees();

/// Returns `overlap` with all flags off except those among `words` of `kOverlap`.
Overlap overlap_within(Overlap overlap, const WordSet& words);

}  // namespace stepwright::plan
