#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/execute/performer.h"
#include "stepwright/runtime/rank/rank_state.h"

namespace stepwright::runtime {

/// Runs operators on real tensors: computations by calling kernels, messages through the rank's
/// process groups.
class TensorOperatorRunner : public OperatorRunner {
 public:
  /// Function that returns the tokens of a micro-batch of the current step.
  using MicroBatchSource = std::function<MicroBatch(std::int64_t micro_batch)>;
  /// `rank` must outlive this object. `batch_of` is called once for each micro-batch of a step.
  TensorOperatorRunner(RankState& rank, MicroBatchSource batch_of);

  void begin_step() override { held_.begin_step(); }
  Work make_operator_work(OperatorWithOperands placed) override;
  void end_step() override;

  /// Returns the bytes of tensors at the memory peak of the last step.
  [[nodiscard]] LiveTensorBytes tensor_bytes_at_step_memory_peak() const {
    return held_.live_bytes_at_peak();
  }

 private:
  RankState& rank_;
  LiveTensorCounter held_;
  MicroBatchSource batch_of_;
  std::map<std::int32_t, MicroBatch> batches_;
};

/// Returns the loss and squared gradient norms at the start of a step: zero tensors.
StepLossAndNormSums make_zero_loss_and_norm_sums(const RankState& rank);

}  // namespace stepwright::runtime
