#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slot_changes.h"

namespace stepwright::memory {

/// Memory of a stage besides its resident parameters and optimizer states: tensors, gradients and
/// parameters gathered for a step.
struct TensorsAndGradients {
  KindBytes tensors{};
  double gradients = 0;        ///< Bytes of allocated gradients.
  double step_parameters = 0;  ///< Bytes of `States::for_step` that are gathered.

  [[nodiscard]] double bytes() const { return total_bytes(tensors) + gradients + step_parameters; }
};

/// Walks the schedule of a stage whose gradients are allocated by the first backward of a step. In
/// a chunk with an unsplit backward, data gradients are computed together with weight gradients.
class GradientWalk {
 public:
  /// `whole_first_stage`: the backward of the model's first chunk is not split. Keeps references to
  /// `program`, `stage` and `footprints`, which must outlive it.
  GradientWalk(const step::StepProgram& program, const step::Stage& stage,
               std::span<const Footprint> footprints, bool whole_first_stage);

  /// Returns the memory at the peak of the next slot, `slot`.
  TensorsAndGradients during(const step::Slot& slot);
  /// Returns the memory between the end of the last slot and the next one.
  [[nodiscard]] TensorsAndGradients after() const { return {alive_, present_, gathered_}; }

 private:
  TensorsAndGradients run(std::size_t which);

  const step::Stage& stage_;
  std::vector<char> there_;  ///< For each chunk: true if its gradients are allocated.
  FreshChunks fresh_;
  /// Data-gradient sequences of the unsplit chunk that wait for their weight gradients, one per
  /// micro-batch.
  std::deque<std::size_t> waiting_;
  std::vector<SequenceFootprint> first_, later_;
  KindBytes alive_{};
  double present_ = 0;
  double step_parameters_ = 0;  ///< Bytes of all parameters gathered for a step.
  double gathered_ = 0;         ///< Bytes of those parameters that are gathered now.
};

}  // namespace stepwright::memory
