#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/plan.h"

namespace stepwright::tune {

/// Messages of context parallelism before any block is priced: they depend on the tensor and
/// context degree, the micro-batch and how the context is exchanged, neither on expert degrees nor
/// on what else a block chooses, its overlap among it. Every recomputation sends at least these.
/// Groups lie alike in all plans of these degrees only in the usual order of ranks. Not shared
/// between threads.
class ContextFloor {
 public:
  ContextFloor(const plan::Job& job, const cost::CostModel& cost) : job_(job), cost_(cost) {}

  /// Seconds of a layer's messages, forward and backward of one micro-batch on one rank, by class
  /// of layers in the order in which the model meets them; they overlap all or none
  /// (`message_stream`). `plan` is legal as far as blocks go and in the usual order of ranks.
  /// References stay valid.
  const std::vector<double>& of(const plan::Plan& plan);

 private:
  [[nodiscard]] std::vector<double> build(plan::Plan plan) const;

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, plan::ContextKind,
                         collective::Algorithm>;
  const plan::Job& job_;
  const cost::CostModel& cost_;
  std::map<Key, std::vector<double>> known_;
};

}  // namespace stepwright::tune
