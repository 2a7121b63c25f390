#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slot_changes.h"

namespace stepwright::memory {

/// Bytes of a pipeline stage that change during a step: tensors, gradients, and parameters that are
/// gathered in a forward and kept to the backward.
struct TensorsAndGradients {
  KindBytes tensors{};
  double gradients = 0;  ///< Bytes of gradients that are allocated at this moment.
  /// Bytes, at this moment, of parameters that stay gathered from a forward to its backward
  /// (`step::RankModelStateBytes::for_step`).
  double step_parameters = 0;

  [[nodiscard]] double bytes() const { return total_bytes(tensors) + gradients + step_parameters; }
};

/// Computes the memory of a pipeline stage, one forward or backward of its schedule after the
/// other, if the first backward of each step allocates the gradients and they are freed before the
/// next step's.
class GradientMemoryWalk {
 public:
  /// `whole_first_stage`: true if the backward of the model's first chunk is not split into data
  /// and weight gradients. Keeps references to `program`, `stage` and `footprints`.
  GradientMemoryWalk(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                     std::span<const OperatorTemplateMemory> footprints, bool whole_first_stage);

  /// Returns the memory at the peak of `slot` (a forward or backward of one micro-batch), which
  /// must be the next one of the stage's schedule.
  TensorsAndGradients memory_at_slot_peak(const step::PipelineScheduleSlot& slot);
  /// Returns the memory between the last slot (forward or backward) passed to `memory_at_slot_peak`
  /// and the next one.
  [[nodiscard]] TensorsAndGradients after() const { return {alive_, present_, gathered_}; }

 private:
  TensorsAndGradients run(std::size_t which);

  const step::PipelineStageProgram& stage_;
  std::vector<char> there_;  ///< For each chunk, true if its gradients are allocated by now.
  ModelChunkGradientBytes fresh_;
  /// Indices of data-gradient sequences of the chunk whose backward the framework does not split;
  /// their memory counts when their weight gradients run; one entry per micro-batch.
  std::deque<std::size_t> waiting_;
  std::vector<TemplateSequenceMemory> first_, later_;
  KindBytes alive_{};
  double present_ = 0;
  /// Bytes of all parameters that are gathered in a forward and kept to the backward.
  double step_parameters_ = 0;
  double gathered_ = 0;  ///< Bytes of parameters gathered now and kept to the backward.
};

}  // namespace stepwright::memory
