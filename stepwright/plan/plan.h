#pragma once

#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/collective/algorithm.h"
#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"
#include "stepwright/plan/offload.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/schedule/schedule.h"

namespace stepwright::plan {

/// Degrees of parallelism. The number of ranks is tensor * context * data * pipeline, and for
/// experts expert_tensor * expert * (expert data) * pipeline, which must be equal.
struct ParallelismDegrees {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  std::int64_t data = 1;

  [[nodiscard]] std::int64_t ranks() const { return tensor * context * data * pipeline; }
  /// Returns the number of ranks that hold the same routed experts; 0 if the expert degrees do not
  /// divide the ranks of a stage.
  [[nodiscard]] std::int64_t expert_data_degree() const {
    const std::int64_t stage = tensor * context * data;
    const bool divides = stage % expert == 0 && stage / expert % expert_tensor == 0;
    return divides ? stage / expert / expert_tensor : 0;
  }
  auto operator<=>(const ParallelismDegrees&) const = default;
};

/// Whether a column-parallel layer keeps its gathered input for the weight gradient or gathers it
/// again, under sequence parallelism.
enum class GatheredInputPolicy : std::uint8_t { kKeep, kRegather };
inline constexpr Named<GatheredInputPolicy> kTensorInputNames[] = {
    {GatheredInputPolicy::kKeep, "keep"}, {GatheredInputPolicy::kRegather, "regather"}};

enum class ContextKind : std::uint8_t { kRing, kAllGather, kUlysses };
inline constexpr Named<ContextKind> kContextKindNames[] = {{ContextKind::kRing, "ring"},
                                                           {ContextKind::kAllGather, "all-gather"},
                                                           {ContextKind::kUlysses, "ulysses"}};

/// How one kind of model state is sharded over the data x context ranks (PaRO, arXiv 2310.06003).
/// N: not at all; I: inside groups of `Sharding::group` ranks; G: over all of them.
enum class StateShardingScope : std::uint8_t { kNone, kInner, kGlobal };
inline constexpr Named<StateShardingScope> kSpreadNames[] = {{StateShardingScope::kNone, "N"},
                                                             {StateShardingScope::kInner, "I"},
                                                             {StateShardingScope::kGlobal, "G"}};

struct Sharding {
  StateShardingScope parameters = StateShardingScope::kNone;
  StateShardingScope gradients = StateShardingScope::kNone;
  StateShardingScope optimizer = StateShardingScope::kNone;
  /// Number of ranks in a sharding group: consecutive data x context ranks over which states with
  /// sharding I (inside groups) are divided.
  std::int64_t group = 1;
  /// Number of ranks over which experts' states with sharding I (inside groups) are divided; a
  /// divisor of the number of ranks that hold the same experts.
  std::int64_t expert_group = 1;

  [[nodiscard]] bool uses(StateShardingScope spread) const {
    return parameters == spread || gradients == spread || optimizer == spread;
  }
  auto operator<=>(const Sharding&) const = default;
};

/// Usual name of a sharding strategy ("zero3", "fsdp") and its letters here (arXiv 2310.06003 and
/// the systems' sources).
struct ShardingAlias {
  std::string_view name;
  std::string_view states;
  /// Note for users when the name is read, if the strategy is only similar; empty: it is equal.
  std::string_view note;
};
inline constexpr ShardingAlias kShardingAliases[] = {
    {"ddp", "NNN", ""},
    {"zero1", "NNG", ""},
    {"zero2", "NGG", ""},
    {"zero3", "GGG", ""},
    {"fsdp", "GGG", ""},
    {"hsdp", "III", ""},
    {"mics", "III", ""},
    {"hpz", "IGG",
     "hpz is read as IGG, the nearest sharding that is known here: ZeRO++ hpZ also keeps the "
     "global parameter shard and gathers over all ranks in the forward pass."},
};

/// Which communication overlaps computation, and which computation is postponed to overlap other
/// pipeline ranks; `kOverlapFlagTable` has names and conditions of all flags.
struct OverlapFlags {
  bool gradients = true;
  bool parameters = true;
  /// True if tensor-parallel messages are cut into pieces that overlap the matrix product which
  /// produces or reads them.
  bool tensor = false;
  /// True if the backward of a column-parallel product overlaps its messages: the input is gathered
  /// again during the data gradient, and the data gradient is reduced during the weight gradient
  /// (Megatron-LM's asynchronous messages).
  bool tensor_gradients = true;
  bool context = true;
  /// True if expert all-to-alls of one micro-batch overlap another micro-batch's computation.
  bool expert = false;
  /// True if expert all-to-alls overlap the layer's shared experts, whose first products run beside
  /// the dispatch and whose last run beside the combine (Megatron-Core's
  /// `moe_shared_expert_overlap`). No effect if `expert` is on.
  bool shared_experts = false;
  bool pipeline = true;
  /// True if the head's weight gradients are computed after the last backward, while the pipeline
  /// drains (Megatron-Core's `defer_embedding_wgrad_compute`). Each micro-batch keeps the head's
  /// input and the gradient of its logits until then.
  bool defer_embedding_gradient = false;
  auto operator<=>(const OverlapFlags&) const = default;
};

/// Returns overlap flags that are all off, or (`on`) all on except those that cost memory.
OverlapFlags all_overlap_flags(bool on);

/// Collective algorithm of each parallelism scheme, used where it supports the operation and group
/// (`effective_collective_algorithm`). The communication library sends all other messages, and all
/// pipeline messages.
struct CollectiveAlgorithmChoices {
  collective::CollectiveAlgorithm tensor = collective::CollectiveAlgorithm::kLibrary;
  collective::CollectiveAlgorithm context = collective::CollectiveAlgorithm::kLibrary;
  collective::CollectiveAlgorithm expert = collective::CollectiveAlgorithm::kLibrary;
  collective::CollectiveAlgorithm data = collective::CollectiveAlgorithm::kLibrary;
  auto operator<=>(const CollectiveAlgorithmChoices&) const = default;
};
/// A parallelism scheme (tensor, context, expert, data) whose collective algorithm a plan chooses,
/// with its name in files.
struct SchemeAlgorithmField {
  collective::CollectiveAlgorithm CollectiveAlgorithmChoices::* choice;
  std::string_view name;
};
inline constexpr SchemeAlgorithmField kChoosingSchemes[] = {
    {&CollectiveAlgorithmChoices::tensor, "tensor"},
    {&CollectiveAlgorithmChoices::context, "context"},
    {&CollectiveAlgorithmChoices::expert, "expert"},
    {&CollectiveAlgorithmChoices::data, "data"}};

/// Axes of the rank grid. For experts, the tensor axis has the expert-tensor size and the data axis
/// the expert-data size.
enum class ParallelismAxis : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline };
inline constexpr Named<ParallelismAxis> kAxisNames[] = {{ParallelismAxis::kTensor, "tp"},
                                                        {ParallelismAxis::kContext, "cp"},
                                                        {ParallelismAxis::kExpert, "ep"},
                                                        {ParallelismAxis::kData, "dp"},
                                                        {ParallelismAxis::kPipeline, "pp"}};
inline constexpr int kAxes = 5;

/// Order in which ranks count along the parallelism axes, the fastest axis first.
struct RankOrder {
  ParallelismAxis axes[kAxes] = {ParallelismAxis::kTensor, ParallelismAxis::kContext,
                                 ParallelismAxis::kExpert, ParallelismAxis::kData,
                                 ParallelismAxis::kPipeline};
  auto operator<=>(const RankOrder&) const = default;
};

/// How a job is trained on its cluster: parallelism, schedule, sharding, recomputation and all
/// other choices beside the job. Small and comparable, as the tuner holds many.
struct Plan {
  ParallelismDegrees parallel;
  std::int64_t micro_batch = 1;
  schedule::PipelineSchedule schedule;
  Sharding sharding;
  ActivationRecomputation recompute;
  bool sequence_parallel = false;
  GatheredInputPolicy tensor_input = GatheredInputPolicy::kRegather;
  ContextKind context_kind = ContextKind::kRing;
  DType accumulate = DType::kFp32;
  /// Size of a gradient bucket, in elements: gradients reduced by one message.
  std::int64_t gradient_bucket = 40'000'000;
  /// Size of a parameter bucket, in elements: parameters gathered by one message.
  std::int64_t parameter_bucket = 40'000'000;
  OverlapFlags overlap;
  CollectiveAlgorithmChoices collectives;
  RankOrder rank_order;
  HostOffload offload;
  /// Number of layers of each pipeline chunk, in model order; empty: `even_layer_split`
  /// (plan/layer_split.h).
  std::vector<std::int64_t> layers;

  auto operator<=>(const Plan&) const = default;
};

/// Returns which pipeline rank holds each chunk of a plan.
inline schedule::ModelChunkPlacement model_chunk_placement(const Plan& plan) {
  return schedule::model_chunk_placement(plan.schedule, plan.parallel.pipeline);
}

/// Returns a sharding's letters for parameters, gradients and optimizer: "IIG".
std::string sharding_letters(const Sharding& sharding);

/// Returns the sharding that three letters ("IIG") or an alias ("zero3") name, with group sizes 1;
/// nullopt for any other word. Accepts all 27 combinations of letters; `is_paro_strategy` tells
/// which are useful.
std::optional<Sharding> sharding_named_by_word(std::string_view word);

/// True if optimizer states are sharded at least as finely as parameters and gradients, as in
/// PaRO's fourteen strategies (arXiv 2310.06003, section 3).
bool is_paro_strategy(const Sharding& sharding);

/// Returns PaRO's fourteen sharding strategies, with group sizes 1: NNN NNI NNG NII NIG NGG INI ING
/// III IIG IGG GNG GIG GGG.
std::vector<Sharding> paro_strategies();

/// Returns an order of parallelism axes as text: "tp-cp-ep-dp-pp".
std::string rank_order_text(const RankOrder& order);

/// Returns the order of parallelism axes that a word states by naming all five once; nullopt for
/// any other word.
std::optional<RankOrder> parse_rank_order(std::string_view word);

/// Returns the collective algorithms that differ from the library's choice, as text: "tensor nvls,
/// data ho-ring"; "library" if there are none.
std::string collective_algorithms_text(const CollectiveAlgorithmChoices& collectives);

/// Returns the layers of each pipeline chunk as text: "8 x 3, 6".
std::string layers_per_chunk_text(const std::vector<std::int64_t>& layers);

}  // namespace stepwright::plan
