#include "stepwright/memory/allocated.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "stepwright/memory/held.h"
#include "stepwright/memory/sequences.h"
#include "stepwright/memory/slots.h"
#include "stepwright/plan/grid.h"

namespace stepwright::memory {
namespace {

/// The chunks of a stage of which no micro-batch is between its forward and the end of its
/// backward: what their modules still hold is nothing that the program keeps.
class IdleChunks {
 public:
  explicit IdleChunks(const step::Stage& stage) : stage_(stage), in_flight_(stage.chunks.size()) {}

  /// How many there are during a slot.
  std::int64_t during(const step::Slot& slot) {
    const step::Sequence& sequence = stage_.sequences[static_cast<std::size_t>(slot.sequence)];
    if (sequence.direction == schedule::Direction::kForward) ++of(sequence.chunk);
    const auto idle = std::ranges::count(in_flight_, 0);
    if (sequence.direction == schedule::Direction::kBackward ||
        sequence.direction == schedule::Direction::kWeightGradient) {
      --of(sequence.chunk);
    }
    if (sequence.beside >= 0) --of(sequence.beside);
    return idle;
  }

 private:
  std::int64_t& of(std::int32_t chunk) { return in_flight_[static_cast<std::size_t>(chunk)]; }

  const step::Stage& stage_;
  std::vector<std::int64_t> in_flight_;
};

/// Where gradients are made by the first backward of a step: those that are there, slot by slot.
/// Data gradients of a chunk that is not cut come with its weight gradients.
class FreshWalk {
 public:
  /// `whole_first_stage`: the model's first chunk is not cut.
  FreshWalk(const step::StepProgram& program, const step::Stage& stage,
            std::span<const Footprint> footprints, bool whole_first_stage)
      : stage_(stage), there_(stage.chunks.size()), of_chunk_(stage.chunks.size()) {
    for (std::int32_t chunk = 0; whole_first_stage && chunk < std::ssize(stage.chunks); ++chunk) {
      if (program.placement.holds_embedding({stage.position, chunk})) whole_chunk_ = chunk;
    }
    double all = 0;
    for (const step::Sequence& sequence : stage.sequences) {
      double& most = of_chunk(sequence.chunk);
      most = std::max(most, reduced_elements(program, sequence));
    }
    for (const double elements : of_chunk_) all += elements;
    for (double& elements : of_chunk_) {
      const double share = all > 0 ? elements / all : 1.0 / static_cast<double>(of_chunk_.size());
      elements = share * static_cast<double>(stage.states.gradients);
    }
    for (const step::Sequence& sequence : stage.sequences) {
      const FreshGradients first{of_chunk(sequence.chunk), true};
      later_.push_back(sequence_footprint(program, sequence, footprints, {0, true}));
      first_.push_back(sequence_footprint(program, sequence, footprints, first));
    }
  }

  /// Tensors and gradients at the largest moment of the next slot.
  double during(const step::Slot& slot) {
    const auto which = static_cast<std::size_t>(slot.sequence);
    const step::Sequence& sequence = stage_.sequences[which];
    if (sequence.chunk != whole_chunk_) return run(which);
    if (sequence.direction == schedule::Direction::kDataGradient) {
      waiting_.push_back(which);
      return total_bytes(alive_) + present_;
    }
    if (sequence.direction != schedule::Direction::kWeightGradient || waiting_.empty())
      return run(which);
    const std::size_t data = waiting_.front();
    waiting_.pop_front();
    const double before = run(data);
    return std::max(before, run(which));
  }

 private:
  double run(std::size_t which) {
    const step::Sequence& sequence = stage_.sequences[which];
    const auto chunk = static_cast<std::size_t>(sequence.chunk);
    const bool backward = sequence.direction == schedule::Direction::kBackward ||
                          sequence.direction == schedule::Direction::kWeightGradient;
    const bool makes = backward && there_[chunk] == 0;
    const SequenceFootprint& own = makes ? first_[which] : later_[which];
    const double bytes =
        total_bytes(alive_) + own.peak_bytes + present_ + (makes ? own.fresh_bytes : 0);
    for (int i = 0; i < step::kTensorKinds; ++i) alive_[i] += own.left[i];
    if (makes) {
      there_[chunk] = 1;
      present_ += of_chunk_[chunk];
    }
    return bytes;
  }

  double& of_chunk(std::int32_t chunk) { return of_chunk_[static_cast<std::size_t>(chunk)]; }

  const step::Stage& stage_;
  std::vector<char> there_;
  std::vector<double> of_chunk_;
  std::int32_t whole_chunk_ = -1;    ///< That is not cut.
  std::deque<std::size_t> waiting_;  ///< Its data gradients, by micro-batch.
  std::vector<SequenceFootprint> first_, later_;
  KindBytes alive_{};
  double present_ = 0;
};

double states_without_gradients(const step::Stage& stage) {
  const step::States& states = stage.states;
  return static_cast<double>(states.parameters + states.optimizer + states.others.bytes());
}

/// States between two steps where what was gathered is let go of and gradients have been reduced:
/// the shards alone.
double resting_states(const step::StepProgram& program, const step::Stage& stage) {
  const step::States& states = stage.states;
  const auto ranks = [&](plan::GroupKind kind) {
    return static_cast<double>(program.group_sizes[static_cast<std::size_t>(kind)]);
  };
  const double inner = ranks(plan::GroupKind::kShardInner);
  const double shards = inner > 1 ? inner : ranks(plan::GroupKind::kDataContext);
  const auto elements = static_cast<double>(stage.dense_parameters);
  const double wide = elements * static_cast<double>(size_bytes(DType::kFp32, 1));
  auto parameters = static_cast<double>(states.parameters);
  auto gradients = static_cast<double>(states.gradients);
  if (shards > 1) {
    if (2 * parameters >= wide) parameters = 0;  // beside fp32 shards, which the optimizer counts
    if (gradients >= wide) gradients = wide / shards;
  }
  return parameters + gradients + static_cast<double>(states.optimizer + states.others.bytes());
}

double fresh_peak(const step::StepProgram& program, const step::Stage& stage, const HeldBytes& held,
                  std::span<const Footprint> footprints) {
  const double always = states_without_gradients(stage) + held.always + held.in_passes;
  FreshWalk walk(program, stage, footprints, held.whole_first_stage);
  double peak = 0;
  for (const step::Slot& slot : stage.schedule) peak = std::max(peak, always + walk.during(slot));
  return peak;
}

AllocatedMemory allocated_of(const plan::Job& job, const step::StepProgram& program,
                             const step::Stage& stage, std::span<const Footprint> footprints) {
  const HeldBytes held = held_bytes(job, program, stage);
  const double states =
      states_without_gradients(stage) + static_cast<double>(stage.states.gradients);
  const double kept_input = 2 * held.stage_input;  // and its gradient
  const double resting = held.fresh_gradients ? resting_states(program, stage) : states;
  const double after_step = resting + held.always + held.between_steps +
                            kept_input * static_cast<double>(stage.chunks.size());
  if (held.fresh_gradients) {
    const double peak = std::max(after_step, fresh_peak(program, stage, held, footprints));
    return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
  }
  double peak = after_step;
  IdleChunks idle(stage);
  walk_slots(program, stage, footprints, [&](const step::Slot& slot, const SlotTensors& tensors) {
    peak = std::max(peak, states + held.always + held.in_passes + total_bytes(tensors.during) +
                              kept_input * static_cast<double>(idle.during(slot)));
  });
  return {.after_step_bytes = std::ceil(after_step), .peak_bytes = std::ceil(peak)};
}

}  // namespace

std::vector<AllocatedMemory> allocated_memory(const plan::Job& job,
                                              const step::StepProgram& program) {
  const std::vector<Footprint> footprints = footprints_of(program);
  std::vector<AllocatedMemory> stages;
  stages.reserve(program.stages.size());
  for (const step::Stage& stage : program.stages) {
    stages.push_back(allocated_of(job, program, stage, footprints));
  }
  return stages;
}

}  // namespace stepwright::memory
