#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stepwright/cluster/layout.h"
#include "stepwright/core/named.h"
#include "stepwright/plan/extents.h"
#include "stepwright/plan/plan.h"

namespace stepwright::plan {

/// The kinds of communicators of a step. Every rank belongs to exactly one group of each kind
/// (possibly of itself alone), except `kEmbedding`, which only ranks of the first and last pipeline
/// position have.
enum class GroupKind : std::uint8_t {
  kNone,
  kTensor,
  kContext,
  kDataContext,  ///< Ranks that hold the same dense parameters: data x context.
  kShardInner,   ///< A sharding group: m consecutive ranks of data x context.
  kShardOuter,   ///< The n ranks with equal index in their inner groups: the rail.
  kExpert,
  kExpertTensor,
  kExpertModel,  ///< Ranks of expert tensor x expert: the group of the all-gather dispatcher.
  kExpertData,   ///< Ranks that hold the same routed experts.
  kExpertShardInner,
  kExpertShardOuter,
  kPipeline,
  /// The ranks on the first and the last pipeline position with equal other coordinates (tied
  /// tables).
  kEmbedding,
  kNorm,        ///< Ranks over which the dense gradient norm is summed.
  kExpertNorm,  ///< Ranks over which the gradient norm of routed experts is summed.
  kWorld,
};
inline constexpr Named<GroupKind> kGroupNames[] = {
    {GroupKind::kNone, "none"},
    {GroupKind::kTensor, "tensor"},
    {GroupKind::kContext, "context"},
    {GroupKind::kDataContext, "data-context"},
    {GroupKind::kShardInner, "shard-inner"},
    {GroupKind::kShardOuter, "shard-outer"},
    {GroupKind::kExpert, "expert"},
    {GroupKind::kExpertTensor, "expert-tensor"},
    {GroupKind::kExpertModel, "expert-model"},
    {GroupKind::kExpertData, "expert-data"},
    {GroupKind::kExpertShardInner, "expert-shard-inner"},
    {GroupKind::kExpertShardOuter, "expert-shard-outer"},
    {GroupKind::kPipeline, "pipeline"},
    {GroupKind::kEmbedding, "embedding"},
    {GroupKind::kNorm, "norm"},
    {GroupKind::kExpertNorm, "expert-norm"},
    {GroupKind::kWorld, "world"}};
inline constexpr int kGroupKinds = 17;

/// True for groups of routed experts.
constexpr bool is_of_experts(GroupKind kind) {
  return (kind >= GroupKind::kExpert && kind <= GroupKind::kExpertShardOuter) ||
         kind == GroupKind::kExpertNorm;
}

/// Shape of the groups of one kind: ranks as strided factors, fastest first; rank lists follow this
/// order.
struct GroupShape {
  Extents extents;
  /// For `kEmbedding`, the consecutive ranks between the group's two members, on inner pipeline
  /// positions; they belong to no such group.
  std::int64_t idle = 0;
  [[nodiscard]] std::int64_t size() const { return extents.size(); }
};

/// Coordinates of a rank in the dense and in the expert grid.
struct Coordinates {
  std::int64_t tensor = 0, context = 0, data = 0, pipeline = 0;
  std::int64_t expert = 0, expert_tensor = 0, expert_data = 0;
};

/// The rank grid of a plan: coordinates of ranks and their groups. Copying does not allocate
/// memory.
class Grid {
 public:
  /// Builds the grid of a legal plan. Fails with `kInput` if the degrees form no grid: a size below
  /// 1, an expert side that does not divide the dense one, a sharding group that does not divide
  /// its group.
  explicit Grid(const Plan& plan);

  [[nodiscard]] std::int64_t ranks() const { return ranks_; }
  [[nodiscard]] Coordinates coordinates(std::int64_t rank) const;
  /// The rank at these coordinates of the dense grid.
  [[nodiscard]] std::int64_t rank_at(std::int64_t tensor, std::int64_t context, std::int64_t data,
                                     std::int64_t pipeline) const;
  /// Size and strides of the groups of a kind.
  [[nodiscard]] const GroupShape& shape(GroupKind kind) const {
    return shapes_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t size(GroupKind kind) const { return shape(kind).size(); }
  /// Ranks of the group of this kind that contains `rank`, in group order (ascending); empty for
  /// `kEmbedding` on inner pipeline positions.
  [[nodiscard]] std::vector<std::int64_t> members(GroupKind kind, std::int64_t rank) const;

 private:
  GroupShape& at(GroupKind kind) { return shapes_[static_cast<std::size_t>(kind)]; }
  void lay_dense(const Sharding& sharding);
  void lay_experts(const Sharding& sharding);
  void lay_embedding();

  std::int64_t ranks_ = 1;
  Extent tensor_, context_, data_, pipeline_;  ///< Extents of the dense side.
  /// Extents of the expert side, whose pipeline extent is that of the dense side.
  Extent expert_tensor_, expert_, expert_data_;
  std::array<GroupShape, kGroupKinds> shapes_;
};

/// Axes of the dense and the expert side as factors of the rank, indexed by `Axis`; size 1 if a
/// side lacks the axis. The expert-data size is rounded down if the sides do not divide.
struct GridAxes {
  std::array<Extent, kAxes> dense;
  std::array<Extent, kAxes> expert;
};
GridAxes grid_axes(const Parallel& parallel, const RankOrder& order);

/// The data x context group and the expert-data group, which sharding groups divide.
Extents data_context_extents(const GridAxes& axes);
Extents expert_data_extents(const GridAxes& axes);

/// Returns the size of the sharding group that the word `node` means: the largest run of
/// consecutive ranks of the data x context (expert-data) group that divides the group and always
/// shares a node; 1 if no two ranks do.
std::int64_t node_sharding_group(const cluster::Cluster& cluster, const Plan& plan);
std::int64_t node_expert_group(const cluster::Cluster& cluster, const Plan& plan);

/// Returns how groups of a shape lie on the levels of a cluster, with all groups of the shape
/// active at once. A shape of one factor: `strided_layout`. Several factors: exact if factors and
/// the units of levels divide each other; else as in the first unit, with the number of groups that
/// share a link rounded up. Does not allocate memory.
cluster::GroupLayout group_layout(const cluster::Cluster& cluster, const GroupShape& shape);

}  // namespace stepwright::plan
