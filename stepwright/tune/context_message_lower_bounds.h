#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::tune {

/// Seconds of the context-parallel messages of one layer, for forward and backward of one
/// micro-batch on one rank.
struct ContextParallelMessageSeconds {
  /// Sum of the seconds of all context-parallel messages of the layer.
  double messages_s = 0;
  /// Seconds by which the layer's compute stream gets longer through context-parallel messages that
  /// wait for a computation of this layer, so that work of other layers cannot hide them.
  double waits_s = 0;
};

/// Computes lower bounds of the context-parallel messages of a layer before any block is priced.
/// The bounds depend on tensor and context degree, micro-batch and the way to exchange the context,
/// and hold for all expert degrees and recomputations, if ranks are in the usual order. Not shared
/// between threads.
class ContextParallelMessageBounds {
 public:
  /// Function that returns the least seconds of an operator on its stream, whatever the expert
  /// degrees. Not called for context-parallel messages.
  using CollectiveLowerBounds =
      std::function<double(const step::Operator&, const simulate::Layouts&)>;

  ContextParallelMessageBounds(const plan::Job& job, const cost::CostModel& cost,
                               CollectiveLowerBounds least_s)
      : job_(job), cost_(cost), least_s_(std::move(least_s)) {}
  ContextParallelMessageBounds(const ContextParallelMessageBounds&) =
      delete;  // `least_s_` refers to its one owner.
  ContextParallelMessageBounds& operator=(const ContextParallelMessageBounds&) = delete;

  /// Returns the seconds of context-parallel messages of one layer, for each class of layers
  /// (layers with equal operators), in the order in which the model first has the classes. `plan`
  /// has legal block choices and the usual order of ranks. References stay valid.
  const std::vector<ContextParallelMessageSeconds>& context_message_seconds_of(
      const plan::Plan& plan);

 private:
  [[nodiscard]] std::vector<ContextParallelMessageSeconds> build(plan::Plan plan);
  /// Adds the seconds of the context-parallel messages among a template's operators (the forward or
  /// the backward of one layer) to `sum`.
  void add(ContextParallelMessageSeconds& sum, const step::OperatorTemplate& piece,
           const simulate::Layouts& layouts, const plan::CollectiveAlgorithmChoices& collectives);

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, plan::ContextKind,
                         collective::CollectiveAlgorithm, bool>;
  const plan::Job& job_;
  const cost::CostModel& cost_;
  CollectiveLowerBounds least_s_;
  std::map<Key, std::vector<ContextParallelMessageSeconds>> known_;
  /// Scratch memory: times of the operators of one layer's forward or backward.
  std::vector<cost::OperatorTime> times_;
  std::vector<double> ends_;
  std::vector<bool> waits_;
};

}  // namespace stepwright::tune
