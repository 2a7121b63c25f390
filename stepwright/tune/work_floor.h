#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

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
};

/// A bound before any block is built: the matrix products of a layer depend on the tensor degree
/// and on the tokens of a rank alone, so a few templates serve a whole space; routed products and
/// attention, which depend on more, count at the peak rate. Not shared between threads while it
/// learns. Norms, activations and blocking tensor messages count as the cheaper of with and without
/// sequence parallelism has them.
class WorkFloor {
 public:
  WorkFloor(const Job& job, const CostModel& cost)
      : job_(job),
        cost_(cost),
        one_order_(job.space.rank_order.empty()),
        overlaps_(std::ranges::any_of(job.space.overlap, &Overlap::tensor)) {}

  /// Of plans with these degrees and micro-batch. `plan` is legal as far as blocks go.
  const Work& work(const Plan& plan);

 private:
  [[nodiscard]] Work build(const Plan& plan) const;
  [[nodiscard]] double seconds(const BlockPair& pair, const Layouts& layouts) const;

  const Job& job_;
  const CostModel& cost_;
  bool one_order_;  ///< Tensor groups lie alike in all plans of one degree.
  bool overlaps_;   ///< Some plan hides its tensor messages.
  /// By tensor degree and tokens of a rank.
  std::map<std::pair<std::int64_t, std::int64_t>, Work> known_;
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
