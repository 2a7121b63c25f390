#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slot_changes.h"

namespace stepwright::memory {

/// Tensors, gradients and parameters gathered for a step that a stage holds beside its other
/// parameters and optimizer states.
struct TensorsAndGradients {
  KindBytes tensors{};
  double gradients = 0;        ///< Bytes of gradients that are there.
  double step_parameters = 0;  ///< Bytes of `States::for_step` that are there.

  [[nodiscard]] double bytes() const { return total_bytes(tensors) + gradients + step_parameters; }
};

/// Walks the schedule of a stage whose gradients are made by the first backward of a step. Data
/// gradients of a chunk that is not cut come with its weight gradients.
class GradientWalk {
 public:
  /// `whole_first_stage`: the model's first chunk is not cut. `program`, `stage` and `footprints`
  /// have to outlive it.
  GradientWalk(const step::StepProgram& program, const step::Stage& stage,
               std::span<const Footprint> footprints, bool whole_first_stage);

  /// At the largest moment of the next slot.
  TensorsAndGradients during(const step::Slot& slot);
  /// Until the slot after it begins.
  [[nodiscard]] TensorsAndGradients after() const { return {alive_, present_, gathered_}; }

 private:
  TensorsAndGradients run(std::size_t which);

  const step::Stage& stage_;
  std::vector<char> there_;  ///< By chunk: its gradients are made.
  FreshChunks fresh_;
  std::deque<std::size_t> waiting_;  ///< Data gradients of the whole chunk, by micro-batch.
  std::vector<SequenceFootprint> first_, later_;
  KindBytes alive_{};
  double present_ = 0;
  double step_parameters_ = 0;  ///< All that are gathered for a step ...
  double gathered_ = 0;         ///< ... and those that are there.
};

}  // namespace stepwright::memory
