#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/price_table.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/step/layer.h"
#include "stepwright/tune/context_floor.h"

namespace stepwright::tune {

/// Counts the layers of each class before any layer of the model. Not shared between threads.
class LayerCounts {
 public:
  /// Number of layers of one pipeline position, by class of layer.
  struct Held {
    std::vector<double> own;
    std::vector<double> before;  ///< Number of layers before the position's first chunk, by class.
    bool head = false;           ///< True if the position has the head.
  };

  explicit LayerCounts(const model::Architecture& model);

  /// Returns the classes in the order in which the model meets them, as in `BlockCosts::layers`.
  [[nodiscard]] const std::vector<model::LayerClass>& classes() const { return classes_; }
  [[nodiscard]] std::int64_t layers() const { return std::ssize(before_.front()) - 1; }
  /// Returns the number of layers of a class.
  [[nodiscard]] std::int64_t count(std::size_t which) const {
    return static_cast<std::int64_t>(before_[which].back());
  }
  /// Returns the sum of `each` (a value by class) over the layers `first` to `last` - 1.
  [[nodiscard]] double sum(const std::vector<double>& each, std::int64_t first,
                           std::int64_t last) const;
  /// Returns the positions that can be the slowest of a pipeline with even chunks: the one with the
  /// head, and one with a surplus of layers. The result is remembered.
  [[nodiscard]] const std::vector<Held>& slowest_even(schedule::PlacementKind kind,
                                                      std::int64_t positions,
                                                      std::int64_t chunks) const;

 private:
  [[nodiscard]] Held held(const schedule::Placement& placement, std::int64_t position) const;

  std::vector<model::LayerClass> classes_;
  /// Number of layers of a class before each layer: by class, then layer.
  std::vector<std::vector<double>> before_;
  mutable std::map<std::tuple<schedule::PlacementKind, std::int64_t, std::int64_t>,
                   std::vector<Held>>
      slowest_;
};

/// Seconds of one layer with one recomputation, by class.
struct LayerWork {
  plan::LayerRecompute recompute;
  std::vector<double> seconds;
  /// Seconds of the operators on the compute stream alone: never above `seconds`.
  std::vector<double> stream_s;
  std::vector<double> chain_s;  ///< Seconds if the host is never late: never above `seconds`.
  /// Least bytes that a layer of any class keeps for its backward.
  double least_retained_bytes = 0;
};

/// The least work of a set of plans: seconds of one micro-batch through parts of the model, forward
/// and backward, on one rank.
struct Work {
  std::vector<LayerWork> layers;
  /// Returns the seconds of layers, by class, with a recomputation; if it has no entry, of the
  /// first entry.
  [[nodiscard]] const std::vector<double>& layer_s(const plan::LayerRecompute& recompute) const;
  /// Returns the least bytes that a layer keeps for its backward with a recomputation; if it has no
  /// entry, the least over all recomputations.
  [[nodiscard]] double retained_bytes(const plan::LayerRecompute& recompute) const;
  double head_s = 0;
  double least_retained_bytes = 0;  ///< Least bytes that a layer keeps for its backward.
  /// Parameters of all positions of a pipeline together, as their ranks hold them.
  step::UnitSize size;
  step::UnitSize resting;  ///< Parameters of blocks without a backward.
};

/// Returns the member-by-member minimum of two works.
Work least(Work a, const Work& b);

/// Lower bounds of work before any block is priced. Matrix products, norms, activations and tensor
/// messages of a layer depend on the tensor degree and on the tokens of a rank alone, routed
/// products and expert messages also on the expert degrees: few templates serve a whole space.
/// Attention counts by its pairs of tokens; messages of context parallelism count where the way to
/// exchange the context is known. The work is the cheaper one of with and without sequence
/// parallelism, messages use the fastest algorithm that plans may name: no choice of context
/// exchange or sharding takes less. Not shared between threads.
class WorkFloor {
 public:
  WorkFloor(const plan::Job& job, const cost::CostModel& cost);

  [[nodiscard]] const LayerCounts& layers() const { return layers_; }

  /// Returns the union of the overlaps of all plans, as far as floors take it into account.
  [[nodiscard]] const plan::Overlap& overlap() const { return overlap_; }

  /// Returns the least work of plans with the tensor degree, micro-batch and context degree of
  /// `plan`, whatever their expert degrees. `plan` is legal as far as blocks go. References stay
  /// valid.
  const Work& rough(const plan::Plan& plan);
  /// Returns the work as `rough` does, but for plans that also have the expert degrees of `plan`.
  const Work& work(const plan::Plan& plan) { return work(plan, overlap_); }
  /// Returns the work of blocks with one overlap, instead of the union of all overlaps
  /// (`plan::overlap_in_floors`).
  const Work& work(const plan::Plan& plan, const plan::Overlap& overlap);
  /// Returns `work` with the messages of the plan's way to exchange the context added.
  [[nodiscard]] Work with_context(const Work& work, const plan::Plan& plan);

 private:
  /// Tensor degree, tokens of a rank, expert degrees (0: any), and the overlap.
  using Key = std::pair<std::array<std::int64_t, 4>, plan::Overlap>;
  const Work& remembered(const Key& key, const plan::Plan& plan);
  /// Returns the work of blocks, for each member the lesser of with and without sequence
  /// parallelism.
  [[nodiscard]] Work build_any(plan::Plan plan, bool any_expert);
  [[nodiscard]] Work build(const plan::Plan& plan, bool any_expert);
  void add_class(Work& work, const step::Setting& setting, model::LayerClass which,
                 const simulate::Layouts& layouts, bool any_expert);
  /// Forward templates of one layer: recomputing nothing (`none`) and the whole layer (`whole`).
  struct KnownForwards {
    const step::Template* none;
    const step::Template* whole;
  };
  void keep_retained(Work& work, step::Setting setting, model::LayerClass which,
                     const KnownForwards& known) const;
  /// The seconds of a layer, counted in three ways.
  struct LayerSeconds {
    double seconds = 0;   ///< When the compute stream ends.
    double chain_s = 0;   ///< When the compute stream ends if the host is never late.
    double stream_s = 0;  ///< Sum of the seconds of operators on the compute stream.
  };
  [[nodiscard]] LayerSeconds seconds(const step::BlockPair& pair, const simulate::Layouts& layouts,
                                     bool any_expert);
  [[nodiscard]] double seconds(const step::Operator& op, const simulate::Layouts& layouts,
                               bool any_expert);

  [[nodiscard]] double host_s(step::Operator op, bool any_expert) const;
  [[nodiscard]] double least_message_s(const step::Operator& op,
                                       const simulate::Layouts& layouts) const;

  const plan::Job& job_;
  const cost::CostModel& cost_;
  LayerCounts layers_;
  /// Load of experts that are spread over ranks, relative to the mean, that memory is reserved for.
  double held_load_;
  /// True if devices wait for their hosts; then nothing else runs beside a block.
  bool waits_;
  /// True if messages count: groups inside a pipeline position lie alike in all plans of their
  /// degrees, and nothing runs beside the messages.
  bool messages_;
  /// The union of the overlaps of all plans: with it no block takes longer than in any plan.
  plan::Overlap overlap_;
  /// Algorithms that plans may choose for tensor messages.
  std::vector<plan::Collectives> of_tensor_;
  std::vector<plan::Collectives> of_experts_;
  cost::PriceTable prices_;
  ContextFloor context_;
  std::map<Key, Work> known_;
  std::vector<cost::OperatorTime> times_;  ///< Scratch: times by operator.
  std::vector<double> ends_;
};

}  // namespace stepwright::tune
