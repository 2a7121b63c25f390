#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/cluster/layout.h"
#include "stepwright/core/named.h"
#include "stepwright/plan/plan.h"
#include "stepwright/plan/strided_ranks.h"

namespace stepwright::plan {

/// The kinds of communicators of a training step. Every rank is in exactly one group of each kind,
/// possibly alone; kEmbedding exists only on the first and last pipeline rank.
enum class CommunicatorKind : std::uint8_t {
  kNone,
  kTensor,
  kContext,
  /// Group of ranks that hold the same dense parameters, along the data and context axes.
  kDataContext,
  /// Group of consecutive data x context ranks that together hold one copy of model states which
  /// are sharded inside groups.
  kShardInner,
  /// Group of ranks that hold the same shard of model states sharded inside groups: those with
  /// equal index in their kShardInner groups.
  kShardOuter,
  kExpert,
  kExpertTensor,
  /// Group of ranks that together hold all experts of a layer (expert-tensor x expert), over which
  /// the all-gather dispatcher gathers token rows.
  kExpertModel,
  kExpertData,  ///< Group of ranks that hold the same routed experts, along the expert-data axis.
  kExpertShardInner,
  kExpertShardOuter,
  kPipeline,
  /// The first and the last rank of one pipeline, which share tied embedding tables.
  kEmbedding,
  kNorm,  ///< Group of ranks over which the squared gradient norm of dense parameters is summed.
  /// Group of ranks over which the squared gradient norm of routed experts is summed.
  kExpertNorm,
  kWorld,
};
inline constexpr Named<CommunicatorKind> kGroupNames[] = {
    {CommunicatorKind::kNone, "none"},
    {CommunicatorKind::kTensor, "tensor"},
    {CommunicatorKind::kContext, "context"},
    {CommunicatorKind::kDataContext, "data-context"},
    {CommunicatorKind::kShardInner, "shard-inner"},
    {CommunicatorKind::kShardOuter, "shard-outer"},
    {CommunicatorKind::kExpert, "expert"},
    {CommunicatorKind::kExpertTensor, "expert-tensor"},
    {CommunicatorKind::kExpertModel, "expert-model"},
    {CommunicatorKind::kExpertData, "expert-data"},
    {CommunicatorKind::kExpertShardInner, "expert-shard-inner"},
    {CommunicatorKind::kExpertShardOuter, "expert-shard-outer"},
    {CommunicatorKind::kPipeline, "pipeline"},
    {CommunicatorKind::kEmbedding, "embedding"},
    {CommunicatorKind::kNorm, "norm"},
    {CommunicatorKind::kExpertNorm, "expert-norm"},
    {CommunicatorKind::kWorld, "world"}};
inline constexpr int kGroupKinds = 17;

/// True for kinds of groups that routed experts use.
constexpr bool is_expert_communicator(CommunicatorKind kind) {
  return (kind >= CommunicatorKind::kExpert && kind <= CommunicatorKind::kExpertShardOuter) ||
         kind == CommunicatorKind::kExpertNorm;
}

/// Number and spacing of the ranks in all groups of one kind of communicator, as nested runs of
/// ranks at equal distances (`StridedRanks`), innermost first. A group lists its ranks in the same
/// order.
struct CommunicatorShape {
  StridedRanks extents;
  /// Number of consecutive ranks between the two members of a kEmbedding group (first and last
  /// pipeline stage); these ranks are in no such group. 0 for other kinds of groups.
  std::int64_t idle = 0;
  [[nodiscard]] std::int64_t size() const { return extents.size(); }
};

/// Coordinates of a rank along the parallelism axes, for dense layers and for experts.
struct RankCoordinates {
  std::int64_t tensor = 0, context = 0, data = 0, pipeline = 0;
  std::int64_t expert = 0, expert_tensor = 0, expert_data = 0;
};

/// The rank grid of a plan: which coordinates each rank has along the parallelism axes, and which
/// ranks form each communicator. Copying allocates no memory.
class RankGrid {
 public:
  /// Builds the rank grid of a legal plan. Fails with `kInput` if there is none: a degree below 1,
  /// expert degrees that do not divide the dense ones, or a sharding group that does not divide its
  /// group.
  explicit RankGrid(const Plan& plan);

  [[nodiscard]] std::int64_t ranks() const { return ranks_; }
  [[nodiscard]] RankCoordinates coordinates(std::int64_t rank) const;
  /// Returns the rank at these coordinates along the dense axes.
  [[nodiscard]] std::int64_t rank_at_coordinates(std::int64_t tensor, std::int64_t context,
                                                 std::int64_t data, std::int64_t pipeline) const;
  /// Returns the size and the strides of the groups of one kind.
  [[nodiscard]] const CommunicatorShape& communicator_shape(CommunicatorKind kind) const {
    return shapes_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t size(CommunicatorKind kind) const {
    return communicator_shape(kind).size();
  }
  /// Returns the ranks of the group of this kind that contains `rank`, in group order (ascending);
  /// empty for kEmbedding on inner pipeline ranks.
  [[nodiscard]] std::vector<std::int64_t> group_ranks_containing(CommunicatorKind kind,
                                                                 std::int64_t rank) const;

 private:
  CommunicatorShape& at(CommunicatorKind kind) { return shapes_[static_cast<std::size_t>(kind)]; }
  void lay_dense(const Sharding& sharding);
  void lay_experts(const Sharding& sharding);
  void lay_embedding();

  std::int64_t ranks_ = 1;
  /// Size and rank distance of each axis of dense layers.
  StridedRankFactor tensor_, context_, data_, pipeline_;
  /// Size and rank distance of each axis of routed experts, which share the pipeline axis.
  StridedRankFactor expert_tensor_, expert_, expert_data_;
  std::array<CommunicatorShape, kGroupKinds> shapes_;
};

/// Size and rank distance of each parallelism axis for dense layers and for experts, indexed by
/// `ParallelismAxis`; size 1 for an axis that only the other kind has. The expert-data size is
/// rounded down if the degrees do not divide.
struct RankGridAxisSizes {
  std::array<StridedRankFactor, kAxes> dense;
  std::array<StridedRankFactor, kAxes> expert;
};
RankGridAxisSizes grid_axes(const ParallelismDegrees& parallel, const RankOrder& order);

/// Returns the ranks that hold the same dense parameters (data x context) as strided factors;
/// sharding groups divide them.
StridedRanks data_context_rank_factors(const RankGridAxisSizes& axes);
/// Returns the ranks that hold the same routed experts as strided factors; sharding groups of
/// experts divide them.
StridedRanks expert_data_rank_factors(const RankGridAxisSizes& axes);

/// Returns the number of ranks that the word `node` means as a sharding group: the longest run of
/// consecutive data x context ranks that divides their group and always lies inside one node; 1 if
/// none does.
std::int64_t node_sharding_group_size(const cluster::Cluster& cluster, const Plan& plan);
/// Returns the number of ranks that the word `node` means as a sharding group of experts: the
/// longest run of consecutive expert-data ranks that divides their group and always lies inside one
/// node; 1 if none does.
std::int64_t node_expert_sharding_group_size(const cluster::Cluster& cluster, const Plan& plan);

/// Returns how all groups of a shape lie on a cluster's network levels when they communicate at
/// once. Exact for one strided factor, and for several if they and the levels' units divide each
/// other; else estimated from the first unit, with the groups that share a link rounded up.
/// Allocates no memory.
cluster::GroupLayout rank_group_network_layout(const cluster::Cluster& cluster,
                                               const CommunicatorShape& shape);

}  // namespace stepwright::plan
