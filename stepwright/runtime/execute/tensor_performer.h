#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Runs operators on tensors: computations by the table of kernels, messages through the rank's
/// groups.
class TensorPerformer : public Performer {
 public:
  /// Returns the tokens of a micro-batch of the present step.
  using BatchOf = std::function<MicroBatch(std::int64_t micro_batch)>;
  /// `rank` must outlive this. `batch_of` is called once for each micro-batch of a step.
  TensorPerformer(RankState& rank, BatchOf batch_of);

  void begin_step() override { held_.begin_step(); }
  Work issue(PlacedOperator placed) override;
  void end_step() override;

  /// Returns the bytes held at the peak of the last step.
  [[nodiscard]] HeldBytes held_at_peak() const { return held_.at_peak(); }

 private:
  RankState& rank_;
  HeldTensors held_;
  BatchOf batch_of_;
  std::map<std::int32_t, MicroBatch> batches_;
};

/// Returns the sums of a step at its start: zeros.
StepSums no_sums(const RankState& rank);

}  // namespace stepwright::runtime
