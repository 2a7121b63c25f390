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
  kDataContext,  ///< Holders of the same dense parameters: data x context.
  kShardInner,   ///< m consecutive ranks of data x context.
  kShardOuter,   ///< Ranks at equal places of the inner groups (n ranks): the rail.
  kExpert,
  kExpertTensor,
  kExpertModel,  ///< expert tensor x expert: the all-gather dispatcher's group.
  kExpertData,   ///< Holders of the same routed experts.
  kExpertShardInner,
  kExpertShardOuter,
  kPipeline,
  kEmbedding,   ///< First and last pipeline position, same other coordinates (tied tables).
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

/// Whether routed experts are what a group is for.
constexpr bool is_of_experts(GroupKind kind) {
  return (kind >= GroupKind::kExpert && kind <= GroupKind::kExpertShardOuter) ||
         kind == GroupKind::kExpertNorm;
}

/// The groups of a kind: their ranks as strided factors, fastest first; rank lists follow this
/// order.
struct GroupShape {
  Extents extents;
  /// Consecutive ranks between the two members that belong to no group: the pipeline positions
  /// between the ends (`kEmbedding`).
  std::int64_t idle = 0;
  [[nodiscard]] std::int64_t size() const { return extents.size(); }
};

/// Position of a rank on the dense and on the expert side.
struct Coordinates {
  std::int64_t tensor = 0, context = 0, data = 0, pipeline = 0;
  std::int64_t expert = 0, expert_tensor = 0, expert_data = 0;
};

/// The rank grid of a plan: who is where, who talks with whom. A value without allocation.
class Grid {
 public:
  /// The grid of a legal plan. Fails with `kInput` when the degrees form none: a size below 1, an
  /// expert side that does not divide the dense one, a sharding group that does not cut its group.
  explicit Grid(const Plan& plan);

  [[nodiscard]] std::int64_t ranks() const { return ranks_; }
  [[nodiscard]] Coordinates coordinates(std::int64_t rank) const;
  /// The rank at a dense position.
  [[nodiscard]] std::int64_t rank_at(std::int64_t tensor, std::int64_t context, std::int64_t data,
                                     std::int64_t pipeline) const;
  /// Size and strides of the groups of a kind.
  [[nodiscard]] const GroupShape& shape(GroupKind kind) const {
    return shapes_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t size(GroupKind kind) const { return shape(kind).size(); }
  /// The ranks of the group of this kind that holds `rank`, in group order (ascending); empty for
  /// `kEmbedding` between the first and the last pipeline position.
  [[nodiscard]] std::vector<std::int64_t> members(GroupKind kind, std::int64_t rank) const;

 private:
  GroupShape& at(GroupKind kind) { return shapes_[static_cast<std::size_t>(kind)]; }
  void lay_dense(const Sharding& sharding);
  void lay_experts(const Sharding& sharding);
  void lay_embedding();

  std::int64_t ranks_ = 1;
  Extent tensor_, context_, data_, pipeline_;  ///< Extents of the dense side.
  Extent expert_tensor_, expert_,
      expert_data_;  ///< Expert side; with experts its pipeline is the same.
  std::array<GroupShape, kGroupKinds> shapes_;
};

/// The axes of both sides as factors of the rank, indexed by `Axis`; size 1 where a side lacks the
/// axis. The expert-data size is rounded down where the sides do not divide.
struct GridAxes {
  std::array<Extent, kAxes> dense;
  std::array<Extent, kAxes> expert;
};
GridAxes grid_axes(const Parallel& parallel, const RankOrder& order);

/// The data x context group and the expert-data group, which sharding groups cut.
Extents data_context_extents(const GridAxes& axes);
Extents expert_data_extents(const GridAxes& axes);

/// The sharding group that the word `node` stands for: the most consecutive ranks of the data x
/// context (expert-data) group that divide it and always share a node; 1 when no two do.
std::int64_t node_sharding_group(const cluster::Cluster& cluster, const Plan& plan);
std::int64_t node_expert_group(const cluster::Cluster& cluster, const Plan& plan);

/// The layout of the groups of a shape over the levels of a cluster (sister groups active at once).
/// One factor: `strided_layout`. Several: exact where factors and units of levels divide each
/// other, else members as in the first unit, and sharers rounded up from it. No allocation.
cluster::GroupLayout group_layout(const cluster::Cluster& cluster, const GroupShape& shape);

}  // namespace stepwright::plan
