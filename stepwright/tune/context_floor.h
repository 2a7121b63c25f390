#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright {

/// Seconds of a layer's messages of context parallelism, forward and backward of one micro-batch on
/// one rank.
struct ContextMessages {
  double blocking_s = 0;  ///< On the compute stream.
  double beside_s = 0;    ///< On a stream of their own.
};

/// Messages of context parallelism before any block is priced: they depend on the tensor and
/// context degree, the micro-batch and how the context is exchanged, neither on expert degrees nor
/// on what else a block chooses. Every recomputation sends at least these. Groups lie alike in all
/// plans of these degrees only in the usual order of ranks. Not shared between threads.
class ContextFloor {
 public:
  ContextFloor(const Job& job, const CostModel& cost) : job_(job), cost_(cost) {}

  /// The messages by class of layers, in the order in which the model meets them. `plan` is legal
  /// as far as blocks go and in the usual order of ranks. References stay valid.
  const std::vector<ContextMessages>& of(const Plan& plan);

 private:
  [[nodiscard]] std::vector<ContextMessages> build(Plan plan) const;

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, ContextKind, bool, Algorithm>;
  const Job& job_;
  const CostModel& cost_;
  std::map<Key, std::vector<ContextMessages>> known_;
};

}  // namespace stepwright
