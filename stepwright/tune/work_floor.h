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

/// How many layers of each class stand before a layer. Not shared between threads.
class LayerCounts {
 public:
  /// Layers of one pipeline position, by class.
  struct Held {
    std::vector<double> own;
    std::vector<double> before;  ///< Layers before the position's first chunk.
    bool head = false;           ///< True if the position has the head.
  };

  explicit LayerCounts(const model::Architecture& model);

  /// The classes in the order in which the model meets them, as `BlockCosts::layers`.
  [[nodiscard]] const std::vector<model::LayerClass>& classes() const { return classes_; }
  [[nodiscard]] std::int64_t layers() const { return std::ssize(before_.front()) - 1; }
  /// Layers of a class.
  [[nodiscard]] std::int64_t count(std::size_t which) const {
    return static_cast<std::int64_t>(before_[which].back());
  }
  /// The sum of `each` (by class) over the layers from `first` to before `last`.
  [[nodiscard]] double sum(const std::vector<double>& each, std::int64_t first,
                           std::int64_t last) const;
  /// The positions of a pipeline of even chunks that can be the slowest: that with the head, and
  /// one with a surplus of layers. Remembers them.
  [[nodiscard]] const std::vector<Held>& slowest_even(schedule::PlacementKind kind,
                                                      std::int64_t positions,
                                                      std::int64_t chunks) const;

 private:
  [[nodiscard]] Held held(const schedule::Placement& placement, std::int64_t position) const;

  std::vector<model::LayerClass> classes_;
  std::vector<std::vector<double>> before_;  ///< By class, then layer.
  mutable std::map<std::tuple<schedule::PlacementKind, std::int64_t, std::int64_t>,
                   std::vector<Held>>
      slowest_;
};

/// Seconds of one layer with one recomputation, by class.
struct LayerWork {
  plan::LayerRecompute recompute;
  std::vector<double> seconds;
  std::vector<double> stream_s;     ///< Seconds of the compute stream alone: never above these.
  std::vector<double> chain_s;      ///< Seconds where the host is never late: never above these.
  double least_retained_bytes = 0;  ///< Bytes that a layer of any class keeps, at least.
};

/// Seconds of one micro-batch through parts of the model, forward and backward, on one rank.
struct Work {
  std::vector<LayerWork> layers;
  /// Returns the seconds of layers with a recomputation; if it is not known, with the first.
  [[nodiscard]] const std::vector<double>& layer_s(const plan::LayerRecompute& recompute) const;
  /// Returns the bytes that a layer keeps for its backward, at least, with a recomputation. One
  /// that is not known: with any.
  [[nodiscard]] double retained_bytes(const plan::LayerRecompute& recompute) const;
  double head_s = 0;
  double least_retained_bytes = 0;  ///< Least bytes that a layer keeps for its backward.
  step::UnitSize size;              ///< Parameters of the model as its pipelines' ranks hold them.
  step::UnitSize resting;           ///< Parameters of blocks without a backward.
};

/// The lesser of both, part by part.
Work least(Work a, const Work& b);

/// Bounds before any block is priced. Matrix products, norms, activations and tensor messages of a
/// layer depend on the tensor degree and on the tokens of a rank alone, routed products and expert
/// messages also on the expert degrees: few templates serve a whole space. Attention counts by its
/// pairs; messages of context parallelism count where the way to exchange the context is known. The
/// cheaper of with and without sequence parallelism, messages by the fastest algorithm that plans
/// may name. What no choice of context exchange or sharding can save. Not shared between threads.
class WorkFloor {
 public:
  WorkFloor(const plan::Job& job, const cost::CostModel& cost);

  [[nodiscard]] const LayerCounts& layers() const { return layers_; }

  /// The overlap of all plans together, as floors know it.
  [[nodiscard]] const plan::Overlap& overlap() const { return overlap_; }

  /// The work of plans with this tensor degree, micro-batch and context degree, whatever their
  /// expert degrees. `plan` is legal as far as blocks go. References stay valid.
  const Work& rough(const plan::Plan& plan);
  /// The work of plans with these expert degrees too.
  const Work& work(const plan::Plan& plan) { return work(plan, overlap_); }
  /// The work of blocks with one overlap, in the place of any that plans may have
  /// (`plan::overlap_in_floors`).
  const Work& work(const plan::Plan& plan, const plan::Overlap& overlap);
  /// Adds what the plan's way to exchange the context sends.
  [[nodiscard]] Work with_context(const Work& work, const plan::Plan& plan);

 private:
  /// Tensor degree, tokens of a rank, expert degrees (0: any), and the overlap.
  using Key = std::pair<std::array<std::int64_t, 4>, plan::Overlap>;
  const Work& remembered(const Key& key, const plan::Plan& plan);
  /// The work of blocks with or without sequence parallelism, part by part the lesser.
  [[nodiscard]] Work build_any(plan::Plan plan, bool any_expert);
  [[nodiscard]] Work build(const plan::Plan& plan, bool any_expert);
  void add_class(Work& work, const step::Setting& setting, model::LayerClass which,
                 const simulate::Layouts& layouts, bool any_expert);
  /// Forwards of one layer that recompute nothing and all.
  struct KnownForwards {
    const step::Template* none;
    const step::Template* whole;
  };
  void keep_retained(Work& work, step::Setting setting, model::LayerClass which,
                     const KnownForwards& known) const;
  /// The seconds of a layer.
  struct LayerSeconds {
    double seconds = 0;   ///< The end of the compute stream.
    double chain_s = 0;   ///< The end of the compute stream where the host is never late.
    double stream_s = 0;  ///< The sum over the compute stream.
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
  double held_load_;  ///< Load of spread experts that memory is kept for.
  /// True if devices wait for their hosts: nothing else runs beside a block.
  bool waits_;
  /// Messages count: groups inside a pipeline position lie alike in all plans of their degrees, and
  /// nothing runs beside them.
  bool messages_;
  plan::Overlap overlap_;  ///< Under which no block takes longer, whatever the plan.
  std::vector<plan::Collectives> of_tensor_;  ///< Choices of plans for tensor messages.
  std::vector<plan::Collectives> of_experts_;
  cost::PriceTable prices_;
  ContextFloor context_;
  std::map<Key, Work> known_;
  std::vector<cost::OperatorTime> times_;  ///< Scratch: times by operator.
  std::vector<double> ends_;
};

}  // namespace stepwright::tune
