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

/// The properties in which training frameworks differ (schedule, sharding, precision, ...). A
/// framework's file lists the values that it supports for each. Those up to kRankOrder are choices
/// of a plan, the others of a job.
enum class FrameworkProperty : std::uint8_t {
  /// Kinds of parallelism (tensor, pipeline, ...) that a framework supports with a degree above 1.
  kParallel,
  kSchedule,
  kLayers,  ///< How unequal the layer counts of pipeline chunks may be.
  kSequenceParallel,
  kTensorInput,
  kContextKind,
  kSharding,
  /// Positions of sharding groups on the grid of ranks that a framework supports: whether a group
  /// may end inside a context-parallel group, for example.
  kGroups,
  /// Type in which gradients are accumulated: that of the computation, or a wider one.
  kAccumulate,
  kRecompute,
  kOffload,          ///< Model states that a framework can keep in host memory.
  kHostActivations,  ///< Modules whose activations a framework can keep in host memory.
  kOverlap,          ///< Communication that a framework can overlap with computation.
  kExposed,          ///< Communication whose overlap with computation can be turned off.
  kAlgorithms,       ///< Algorithms that a framework's collectives can use.
  /// Whether all collectives of a run share one algorithm, or each parallelism scheme has its own.
  kAlgorithmScope,
  kRankOrder,
  kDispatcher,
  kPrecision,
  kOptimizer,
  kModel,      ///< Model features beyond a plain Llama.
  kTrained,    ///< Which weights can be trained: all, adapters, or a part.
  kAttention,  ///< Kernels of the attention core (FlashAttention 2, cuDNN, ...).
};
inline constexpr Named<FrameworkProperty> kAbilityNames[] = {
    {FrameworkProperty::kParallel, "parallel"},
    {FrameworkProperty::kSchedule, "schedule"},
    {FrameworkProperty::kLayers, "layers"},
    {FrameworkProperty::kSequenceParallel, "sequence_parallel"},
    {FrameworkProperty::kTensorInput, "tensor_input"},
    {FrameworkProperty::kContextKind, "context_kind"},
    {FrameworkProperty::kSharding, "sharding"},
    {FrameworkProperty::kGroups, "sharding_groups"},
    {FrameworkProperty::kAccumulate, "accumulate"},
    {FrameworkProperty::kRecompute, "recompute"},
    {FrameworkProperty::kOffload, "offload"},
    {FrameworkProperty::kHostActivations, "host_activations"},
    {FrameworkProperty::kOverlap, "overlap"},
    {FrameworkProperty::kExposed, "exposed"},
    {FrameworkProperty::kAlgorithms, "collectives"},
    {FrameworkProperty::kAlgorithmScope, "collectives_scope"},
    {FrameworkProperty::kRankOrder, "rank_order"},
    {FrameworkProperty::kDispatcher, "dispatcher"},
    {FrameworkProperty::kPrecision, "precision"},
    {FrameworkProperty::kOptimizer, "optimizer"},
    {FrameworkProperty::kModel, "model"},
    {FrameworkProperty::kTrained, "trained"},
    {FrameworkProperty::kAttention, "attention"}};
inline constexpr std::size_t kAbilities = std::size(kAbilityNames);

/// True if the property is a choice of a plan (schedule, sharding, ...); false: a choice of its job
/// (precision, optimizer, ...).
constexpr bool of_plan(FrameworkProperty ability) {
  return ability <= FrameworkProperty::kRankOrder;
}

/// A set of values of one framework property (such as "1f1b" and "interleaved" of the schedule);
/// bit i stands for word i of `framework_property_value_names`.
using WordSet = std::bitset<128>;

/// Returns the words for all values of a framework property. Most are those of plan and job files;
/// these properties have words of their own:
///
/// - `layers`: `equal` (all chunks have equally many), `nearly` (the even split with a remainder),
///   `any` (a list), `hollow` (a chunk between the first and the last has none).
/// - `schedule`: `two-strands` (a forward beside a backward), `one-position` (with one pipeline
///   rank, an order other than 1f1b's), `even-groups` (as many equal groups of micro-batches as
///   possible, each larger than the number of pipeline ranks), `any-groups` (groups of another size
///   than the number of pipeline ranks).
/// - `collectives_scope`: `run` (all schemes use one algorithm), `scheme` (they differ).
/// - `offload`: `optimizer` (all of it), `share` (a part of it), `device_masters` (all except
///   master copies), `parameters` (with gradients and the whole optimizer).
/// - `sharding_groups`: `other_instances` (experts share states in more or fewer groups than the
///   other parameters), `cut_context` (a group ends inside a context-parallel group),
///   `within_context` (states are shared only over context and experts), `single` (every state is
///   on one rank), `experts_cut_alone` (an expert-tensor degree without an expert degree),
///   `experts_cut_apart` (without an expert degree, experts are not split as the other parameters),
///   `cut_nodes` (an axis of the mesh fills a fraction of a node), `copied_context` (copies share
///   states only over context).
/// - `trained`: `whole` (all weights), `adapters`, `narrow_base` (quantised weights below
///   adapters), `fp8_base` (weights in fp8 below adapters), `frozen` (parts that are not trained),
///   `part_of_mlp` (adapters beside some, not all, products of an MLP).
/// - `accumulate`: `own` (gradients in the parameters' type), `wide` (in a wider one). `overlap`
///   also has `tensor_on_rocm` (tensor-parallel messages that overlap products, on ROCm).
const std::vector<std::string>& framework_property_value_names(FrameworkProperty ability);

/// Returns a set of values of a framework property as text: "1f1b, interleaved"; "none" if it is
/// empty. For properties with many values: "any" for all, "all but tied" for most.
std::string property_words_text(FrameworkProperty ability, const WordSet& words);

/// Set of the parallelism degrees that are above 1 in a plan, one bit for each kind of parallelism,
/// in the order of the words of `FrameworkProperty::kParallel`.
using DegreeSet = std::size_t;
DegreeSet degrees_above_one(const ParallelismDegrees& parallel);

/// Returns the values of a framework property that a plan and its job use; empty if the choice has
/// no effect (the kind of context parallelism on one rank). The plan must be canonical, and legal
/// as far as the property depends on it.
WordSet property_values_of_plan(FrameworkProperty ability, const Job& job, const Plan& plan);

/// Returns the parallelism schemes (tensor, context, expert, data) that have groups of more than
/// one rank in this plan, as members of `CollectiveAlgorithmChoices`.
std::vector<collective::CollectiveAlgorithm CollectiveAlgorithmChoices::*>
active_parallelism_schemes(const Plan& plan);

/// Returns the words for positions of sharding groups (`FrameworkProperty::kGroups`) that depend on
/// all parallelism degrees of a plan, not on one alone.
WordSet degree_dependent_group_words();

/// Returns `overlap` with only those flags left on that `words` (values of
/// `FrameworkProperty::kOverlap`) contains.
OverlapFlags overlap_limited_to_listed_flags(OverlapFlags overlap, const WordSet& words);

}  // namespace stepwright::plan
