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

/// Degrees of parallelism. `tensor * context * data * pipeline` is the number of ranks; on the
/// expert side `expert_tensor * expert * expert data * pipeline` is the same number.
struct Parallel {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  std::int64_t data = 1;

  [[nodiscard]] std::int64_t ranks() const { return tensor * context * data * pipeline; }
  /// Ranks that hold the same routed experts; 0 if the expert side does not divide the dense one.
  [[nodiscard]] std::int64_t expert_data() const {
    const std::int64_t stage = tensor * context * data;
    const bool divides = stage % expert == 0 && stage / expert % expert_tensor == 0;
    return divides ? stage / expert / expert_tensor : 0;
  }
  auto operator<=>(const Parallel&) const = default;
};

/// The input that a column-parallel layer keeps for its weight gradient under sequence parallelism.
enum class TensorInput : std::uint8_t { kKeep, kRegather };
inline constexpr Named<TensorInput> kTensorInputNames[] = {{TensorInput::kKeep, "keep"},
                                                           {TensorInput::kRegather, "regather"}};

enum class ContextKind : std::uint8_t { kRing, kAllGather, kUlysses };
inline constexpr Named<ContextKind> kContextKindNames[] = {{ContextKind::kRing, "ring"},
                                                           {ContextKind::kAllGather, "all-gather"},
                                                           {ContextKind::kUlysses, "ulysses"}};

/// How one kind of model state is sharded over the data x context group (PaRO, 2310.06003). N:
/// every rank holds all of it; I: it is split inside groups of `group` ranks; G: it is split over
/// the whole group.
enum class Spread : std::uint8_t { kNone, kInner, kGlobal };
inline constexpr Named<Spread> kSpreadNames[] = {
    {Spread::kNone, "N"}, {Spread::kInner, "I"}, {Spread::kGlobal, "G"}};

struct Sharding {
  Spread parameters = Spread::kNone;
  Spread gradients = Spread::kNone;
  Spread optimizer = Spread::kNone;
  /// m: number of consecutive ranks of the data x context group that share states of spread I.
  std::int64_t group = 1;
  std::int64_t expert_group = 1;  ///< m for expert states; it divides the expert-data size.

  [[nodiscard]] bool uses(Spread spread) const {
    return parameters == spread || gradients == spread || optimizer == spread;
  }
  auto operator<=>(const Sharding&) const = default;
};

/// A name of a sharding strategy in other systems (2310.06003 and the systems' sources).
struct ShardingAlias {
  std::string_view name;
  std::string_view states;
  std::string_view note;  ///< Note for users when the alias is read; empty: the alias is exact.
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

/// Communication that may overlap computation, and computation that may overlap the work of other
/// positions; `kOverlapTable` (plan/overlap_table.h) has the name and the conditions of each flag.
struct Overlap {
  bool gradients = true;
  bool parameters = true;
  /// True if tensor-parallel messages are sent in pieces that overlap the product that produces or
  /// reads them.
  bool tensor = false;
  /// True if the backward of a product split by columns overlaps its messages: the input is
  /// gathered again during the data gradient, and the data gradient is reduced during the weight
  /// gradient (Megatron-LM's asynchronous messages).
  bool tensor_gradients = true;
  bool context = true;
  bool expert = false;  ///< True if messages of experts overlap another micro-batch.
  /// True if messages of experts overlap the shared experts of their layer, whose first products
  /// then follow the dispatch and whose last products follow the combine (Megatron-Core's
  /// `moe_shared_expert_overlap`). No effect if `expert` is on.
  bool shared_experts = false;
  bool pipeline = true;
  /// True if the head's weight gradients run after the last backward of its position, while the
  /// pipeline drains (Megatron-Core's `defer_embedding_wgrad_compute`). Until then each micro-batch
  /// keeps the head's input and the gradient of its logits.
  bool defer_embedding_gradient = false;
  auto operator<=>(const Overlap&) const = default;
};

/// Returns an overlap with all flags off, or with all flags on that cost no memory.
Overlap overlap_all(bool on);

/// The collective algorithm of each scheme's messages, used if it supports the operation and the
/// group (`settled`). The library carries out all other messages, and all of the pipeline.
struct Collectives {
  collective::Algorithm tensor = collective::Algorithm::kLibrary;
  collective::Algorithm context = collective::Algorithm::kLibrary;
  collective::Algorithm expert = collective::Algorithm::kLibrary;
  collective::Algorithm data = collective::Algorithm::kLibrary;
  auto operator<=>(const Collectives&) const = default;
};
/// A scheme that has a choice of algorithm, and its name in files.
struct ChoosingScheme {
  collective::Algorithm Collectives::* choice;
  std::string_view name;
};
inline constexpr ChoosingScheme kChoosingSchemes[] = {{&Collectives::tensor, "tensor"},
                                                      {&Collectives::context, "context"},
                                                      {&Collectives::expert, "expert"},
                                                      {&Collectives::data, "data"}};

/// Dimensions of the rank grid. On the expert side, the tensor axis has the expert-tensor size and
/// the data axis the expert-data size.
enum class Axis : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline };
inline constexpr Named<Axis> kAxisNames[] = {{Axis::kTensor, "tp"},
                                             {Axis::kContext, "cp"},
                                             {Axis::kExpert, "ep"},
                                             {Axis::kData, "dp"},
                                             {Axis::kPipeline, "pp"}};
inline constexpr int kAxes = 5;

/// The axes of the rank grid, fastest first.
struct RankOrder {
  Axis axes[kAxes] = {Axis::kTensor, Axis::kContext, Axis::kExpert, Axis::kData, Axis::kPipeline};
  auto operator<=>(const RankOrder&) const = default;
};

/// All choices besides the job. Small and comparable, as the tuner holds many.
struct Plan {
  Parallel parallel;
  std::int64_t micro_batch = 1;
  schedule::Schedule schedule;
  Sharding sharding;
  Recompute recompute;
  bool sequence_parallel = false;
  TensorInput tensor_input = TensorInput::kRegather;
  ContextKind context_kind = ContextKind::kRing;
  DType accumulate = DType::kFp32;
  std::int64_t gradient_bucket = 40'000'000;   ///< Elements of a bucket of gradients.
  std::int64_t parameter_bucket = 40'000'000;  ///< Elements of a bucket of parameters.
  Overlap overlap;
  Collectives collectives;
  RankOrder rank_order;
  Offload offload;
  /// Layers of each chunk in model order; empty: `even_split` (plan/layer_split.h).
  std::vector<std::int64_t> layers;

  auto operator<=>(const Plan&) const = default;
};

/// The placement of a plan's chunks.
inline schedule::Placement placement_of(const Plan& plan) {
  return schedule::placement_of(plan.schedule, plan.parallel.pipeline);
}

/// Writes the spread of states, as "IIG".
std::string sharding_word(const Sharding& sharding);

/// Returns the sharding that "IIG" or an alias ("zero3") names, with group sizes 1; nullopt for any
/// other word. All 27 combinations of letters are read; `is_paro_strategy` tells which are
/// strategies.
std::optional<Sharding> sharding_of(std::string_view word);

/// True if optimizer states are split at least as finely as parameters and gradients, as in the
/// fourteen strategies (2310.06003, section 3).
bool is_paro_strategy(const Sharding& sharding);

/// Returns the fourteen strategies: NNN NNI NNG NII NIG NGG INI ING III IIG IGG GNG GIG GGG; with
/// group sizes 1.
std::vector<Sharding> paro_strategies();

/// Writes an order of ranks, as "tp-cp-ep-dp-pp".
std::string rank_order_word(const RankOrder& order);

/// Returns the rank order that a word states by naming all five axes once; nullopt for any other
/// word.
std::optional<RankOrder> rank_order_of(std::string_view word);

/// Writes the algorithms that are not the library's: "tensor nvls, data ho-ring"; "library" if
/// there are none.
std::string collectives_word(const Collectives& collectives);

/// Writes the layers of chunks, in order: "8 x 3, 6".
std::string layers_word(const std::vector<std::int64_t>& layers);

}  // namespace stepwright::plan
