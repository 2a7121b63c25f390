#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/block_costs.h"
#include "stepwright/step/layer.h"
#include "stepwright/tune/choices.h"

namespace stepwright {

/// Seconds of one micro-batch through the whole model, forward and backward, that no choice of
/// sequence parallelism, context exchange or sharding can save, on one rank of every stage.
struct Work {
  std::array<double, 3> layers_s{};  ///< By recomputation (`recompute_index`), all layers.
  std::array<double, 3> least_layer_s{};
  double head_s = 0;
  double least_retained_bytes = 0;  ///< What a layer keeps for its backward, at least.
  UnitSize size;                    ///< Parameters of the model as its pipelines' ranks hold them.
};

/// Bounds before any block is priced. Matrix products, norms, activations and tensor messages of a
/// layer depend on the tensor degree and on the tokens of a rank alone, routed products and expert
/// messages also on the expert degrees: few templates serve a whole space. Attention counts by its
/// pairs; messages of context parallelism do not count. The cheaper of with and without sequence
/// parallelism. Not shared between threads.
class WorkFloor {
 public:
  WorkFloor(const Job& job, const CostModel& cost)
      : job_(job),
        cost_(cost),
        one_order_(job.space.rank_order.empty()),
        overlaps_tensor_(std::ranges::any_of(job.space.overlap, &Overlap::tensor)),
        overlaps_expert_(std::ranges::any_of(job.space.overlap, &Overlap::expert)) {}

  /// Of plans with this tensor degree, micro-batch and context degree, whatever their expert
  /// degrees. `plan` is legal as far as blocks go.
  const Work& rough(const Plan& plan);
  /// Of plans with these expert degrees too.
  const Work& work(const Plan& plan);

 private:
  /// Tensor degree, tokens of a rank, expert degrees (0: any).
  using Key = std::array<std::int64_t, 4>;
  const Work& remembered(const Key& key, const Plan& plan);
  [[nodiscard]] Work build(const Plan& plan, bool any_expert);
  [[nodiscard]] double seconds(const BlockPair& pair, const Layouts& layouts, bool any_expert);
  [[nodiscard]] double seconds(const Operator& op, const Layouts& layouts, bool any_expert) const;

  const Job& job_;
  const CostModel& cost_;
  bool one_order_;  ///< Groups inside a pipeline position lie alike in all plans of their degrees.
  bool overlaps_tensor_;  ///< Some plan hides its tensor messages.
  bool overlaps_expert_;
  std::map<Key, Work> known_;
  std::vector<OperatorTime> times_;  ///< Scratch.
  std::vector<double> ends_;
};

/// Bounds of a pipeline from the work of one micro-batch through it: of its closed-form price and
/// of its simulated time.
struct StageFloor {
  double price_s = 0;
  double simulated_s = 0;
};
StageFloor stage_floor(const Work& work, std::size_t recompute, const StageChoice& choice,
                       std::int64_t pipeline, std::int64_t micro_batches, std::int64_t layers);

}  // namespace stepwright
