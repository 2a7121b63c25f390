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

/// Seconds of the messages of context parallelism of one layer, forward and backward of one
/// micro-batch on one rank.
struct ContextSeconds {
  /// All messages together: a plan overlaps all of them or none (`message_stream`).
  double messages_s = 0;
  /// How much longer the layer's compute stream takes because of messages that wait for a
  /// computation of the same layer: no work outside of the layer hides them.
  double waits_s = 0;
};

/// Bounds the messages of context parallelism before any block is priced. They depend only on the
/// tensor and context degree, the micro-batch and how the context is exchanged, not on expert
/// degrees or other choices of a block; every choice of recomputation sends at least these
/// messages. Groups lie alike in all plans of these degrees only in the usual order of ranks. Not
/// shared between threads.
class ContextFloor {
 public:
  /// Returns the least seconds of an operator on its stream, whatever the expert degrees. Not
  /// called for operators that send the context.
  using LeastSeconds = std::function<double(const step::Operator&, const simulate::Layouts&)>;

  ContextFloor(const plan::Job& job, const cost::CostModel& cost, LeastSeconds least_s)
      : job_(job), cost_(cost), least_s_(std::move(least_s)) {}
  ContextFloor(const ContextFloor&) = delete;  // `least_s_` refers to its one owner.
  ContextFloor& operator=(const ContextFloor&) = delete;

  /// Returns the seconds by class of layers, in the order in which the model meets the classes.
  /// `plan` is legal as far as blocks go and in the usual order of ranks. References stay valid.
  const std::vector<ContextSeconds>& of(const plan::Plan& plan);

 private:
  [[nodiscard]] std::vector<ContextSeconds> build(plan::Plan plan);
  /// Adds the seconds of one template of a layer.
  void add(ContextSeconds& sum, const step::Template& piece, const simulate::Layouts& layouts,
           const plan::Collectives& collectives);

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, plan::ContextKind,
                         collective::Algorithm, bool>;
  const plan::Job& job_;
  const cost::CostModel& cost_;
  LeastSeconds least_s_;
  std::map<Key, std::vector<ContextSeconds>> known_;
  std::vector<cost::OperatorTime> times_;  ///< Times by operator; scratch that `add` reuses.
  std::vector<double> ends_;
  std::vector<bool> waits_;
};

}  // namespace stepwright::tune
