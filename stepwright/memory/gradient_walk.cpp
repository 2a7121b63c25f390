#include "stepwright/memory/gradient_walk.h"

#include <algorithm>
#include <utility>

namespace stepwright::memory {

GradientMemoryWalk::GradientMemoryWalk(const step::StepProgram& program,
                                       const step::PipelineStageProgram& stage,
                                       std::span<const OperatorTemplateMemory> footprints,
                                       bool whole_first_stage)
    : stage_(stage),
      there_(stage.chunks.size()),
      fresh_(first_backward_gradient_bytes(program, stage, whole_first_stage)) {
  step_parameters_ = static_cast<double>(stage.states.for_step);
  if (!runs_one_micro_batch_at_a_time(program, stage))
    gathered_ = std::exchange(step_parameters_, 0);
  for (const step::TemplateSequence& sequence : stage.sequences) {
    const double bytes = fresh_.bytes[static_cast<std::size_t>(sequence.chunk)];
    const auto footprint_of = [&](double fresh) {
      return template_sequence_footprint(program, sequence, footprints,
                                         {fresh, true, step_parameters_});
    };
    later_.push_back(footprint_of(0));
    first_.push_back(footprint_of(bytes));
  }
}

TensorsAndGradients GradientMemoryWalk::memory_at_slot_peak(
    const step::PipelineScheduleSlot& slot) {
  const auto which = static_cast<std::size_t>(slot.sequence);
  const step::TemplateSequence& sequence = stage_.sequences[which];
  if (sequence.chunk != fresh_.whole_chunk) return run(which);
  if (sequence.direction == schedule::Direction::kDataGradient) {
    waiting_.push_back(which);
    return after();
  }
  if (sequence.direction != schedule::Direction::kWeightGradient || waiting_.empty()) {
    return run(which);
  }
  const std::size_t data = waiting_.front();
  waiting_.pop_front();
  const TensorsAndGradients before = run(data);
  const TensorsAndGradients own = run(which);
  return before.bytes() > own.bytes() ? before : own;
}

TensorsAndGradients GradientMemoryWalk::run(std::size_t which) {
  const step::TemplateSequence& sequence = stage_.sequences[which];
  const auto chunk = static_cast<std::size_t>(sequence.chunk);
  const bool makes = computes_weight_gradients(sequence) && there_[chunk] == 0;
  const TemplateSequenceMemory& own = makes ? first_[which] : later_[which];
  const bool comes_and_goes = step_parameters_ > 0;
  TensorsAndGradients most{alive_, present_ + (makes ? own.fresh_bytes : 0),
                           comes_and_goes ? own.step_parameter_bytes : gathered_};
  if (comes_and_goes && !sequence.items.empty()) {
    gathered_ = sequence.direction == schedule::Direction::kForward ? step_parameters_ : 0;
  }
  for (int i = 0; i < step::kTensorKinds; ++i) {
    most.tensors[i] += own.at_peak[i];
    alive_[i] += own.left[i];
  }
  if (makes) {
    there_[chunk] = 1;
    present_ += fresh_.bytes[chunk];
  }
  return most;
}

}  // namespace stepwright::memory
