#include "stepwright/memory/slot_changes.h"

#include <algorithm>

namespace stepwright::memory {
namespace {

/// Returns the elements of gradients that remain on a rank after a reduction template: its shards
/// of what is reduce-scattered, and everything that only this rank holds, for which there is no
/// message.
double reduced_elements(const step::StepProgram& program, const step::OperatorTemplate& piece) {
  double shards = 0, sums = 0, scattered = 0;
  for (const step::Operator& op : piece.operators) {
    if (op.purpose != step::OperatorPurpose::kReduceGradients) continue;
    const auto elements = static_cast<double>(op.payload_elements);
    if (op.kind != step::OperatorKind::kReduceScatter) {
      sums += elements;
      continue;
    }
    scattered += elements;
    shards +=
        elements / static_cast<double>(program.group_sizes[static_cast<std::size_t>(op.group)]);
  }
  if (scattered == 0) return sums;
  double taken = 0;
  for (const step::TensorId id : piece.inputs) {
    taken += static_cast<double>(piece.tensors[static_cast<std::size_t>(id)].elements());
  }
  return shards + std::max(0.0, taken - scattered);
}

/// Returns the elements of gradients that remain on a rank after the reductions of a sequence.
double reduced_elements(const step::StepProgram& program, const step::TemplateSequence& sequence) {
  double sum = 0;
  for (const step::TemplateSequenceItem& item : sequence.items) {
    sum += reduced_elements(program, program.templates[static_cast<std::size_t>(item.which)]);
  }
  return sum;
}

/// Returns the elements of the parameters whose gradients a template computes.
double made_elements(const step::OperatorTemplate& piece) {
  double sum = 0;
  for (const step::Operator& op : piece.operators) {
    if (op.parameter < 0 || op.phase != step::Phase::kWeightGradient) continue;
    if (op.rows.first > 0) continue;  // Later chunks of a loss add to the first chunk's gradient.
    sum += static_cast<double>(piece.parameters[static_cast<std::size_t>(op.parameter)].elements());
  }
  return sum;
}

}  // namespace

std::optional<step::DeviceStream> communication_stream_of_template(
    const step::OperatorTemplate& piece) {
  for (const step::Operator& op : piece.operators) {
    if (op.stream == step::DeviceStream::kCompute) return std::nullopt;
  }
  if (piece.operators.empty()) return std::nullopt;
  return piece.operators.front().stream;
}

bool reduces_gradients_from_input_copy(const step::OperatorTemplate& piece) {
  return !piece.operators.empty() && !piece.outputs.empty() &&
         piece.operators.front().purpose == step::OperatorPurpose::kReduceGradients;
}

bool copies_gathered_parameters(const step::OperatorTemplate& piece) {
  if (piece.outputs.empty()) return false;
  const auto last = static_cast<std::size_t>(piece.outputs.back());
  if (piece.tensors[last].kind != step::TensorPurpose::kCommunication) return false;
  return std::ranges::any_of(piece.operators, [](const step::Operator& op) {
    return op.purpose == step::OperatorPurpose::kGatherParameters ||
           op.purpose == step::OperatorPurpose::kGatherUpdated;
  });
}

namespace {

/// True if the head and its loss are one function, so that a backward prefetches before both.
bool takes_loss_inside(const step::OperatorTemplate& piece) {
  return std::ranges::any_of(piece.operators, [](const step::Operator& op) {
    return op.purpose == step::OperatorPurpose::kOnChip;
  });
}

}  // namespace

std::int32_t loss_or_head_item_index(const step::StepProgram& program,
                                     const step::TemplateSequence& sequence) {
  if (sequence.direction != schedule::Direction::kBackward) return -1;
  for (std::size_t i = 0; i < sequence.items.size(); ++i) {
    const step::TemplateSequenceItem& item = sequence.items[i];
    const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
    const bool computes = !piece.operators.empty() && !communication_stream_of_template(piece);
    if (computes && !item.units.empty() && item.units.front() == step::kHeadBlockNumber) {
      return takes_loss_inside(piece) ? -1 : static_cast<std::int32_t>(i);
    }
    for (const step::Operator& op : piece.operators) {
      if (op.kind == step::OperatorKind::kLossLocal) return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

bool computes_weight_gradients(const step::TemplateSequence& sequence) {
  return sequence.direction == schedule::Direction::kBackward ||
         sequence.direction == schedule::Direction::kWeightGradient;
}

AllocatedGradientShare::AllocatedGradientShare(const step::StepProgram& program,
                                               const step::TemplateSequence& sequence)
    : program_(program), reduced_(reduced_elements(program, sequence)) {
  for (const step::TemplateSequenceItem& item : sequence.items) all_ += made_elements(piece(item));
}

bool AllocatedGradientShare::comes_behind(const step::TemplateSequenceItem& item) const {
  return reduces_gradients_from_input_copy(piece(item)) && !item.units.empty() &&
         item.units.front() >= 0;
}

double AllocatedGradientShare::memory_share_at_sequence_item_peak(
    const step::TemplateSequenceItem& item) {
  if (reduced_ > 0 && !comes_behind(item)) {
    share_ += reduced_elements(program_, piece(item)) / reduced_;
  }
  return share_;
}

double AllocatedGradientShare::finish(const step::TemplateSequenceItem& item) {
  if (reduced_ > 0 && comes_behind(item)) {
    share_ += reduced_elements(program_, piece(item)) / reduced_;
  }
  if (reduced_ == 0 && all_ > 0) share_ += made_elements(piece(item)) / all_;
  return share_;
}

GatheredParameterShare::GatheredParameterShare(const step::StepProgram& program,
                                               const step::TemplateSequence& sequence)
    : program_(program), comes_(sequence.direction == schedule::Direction::kForward) {
  for (const step::TemplateSequenceItem& item : sequence.items) all_ += own_elements(item);
  if (computes_weight_gradients(sequence) ||
      sequence.direction == schedule::Direction::kDataGradient) {
    share_ = 1;
  }
}

double GatheredParameterShare::own_elements(const step::TemplateSequenceItem& item) const {
  const step::OperatorTemplate& piece = program_.templates[static_cast<std::size_t>(item.which)];
  if (item.units.empty() || communication_stream_of_template(piece)) return 0;
  double sum = 0;
  for (const step::RankLocalParameter& parameter : piece.parameters) {
    if (!parameter.borrowed) sum += static_cast<double>(parameter.elements());
  }
  return sum;
}

double GatheredParameterShare::memory_share_at_sequence_item_peak(
    const step::TemplateSequenceItem& item) {
  if (comes_ && all_ > 0) share_ += own_elements(item) / all_;
  return share_;
}

void GatheredParameterShare::finish(const step::TemplateSequenceItem& item) {
  if (!comes_ && all_ > 0) share_ -= own_elements(item) / all_;
}

bool runs_one_micro_batch_at_a_time(const step::StepProgram& program,
                                    const step::PipelineStageProgram& stage) {
  return program.stages.size() == 1 && stage.chunks.size() == 1;
}

ModelChunkGradientBytes first_backward_gradient_bytes(const step::StepProgram& program,
                                                      const step::PipelineStageProgram& stage,
                                                      bool whole_first_stage) {
  ModelChunkGradientBytes fresh{.bytes = std::vector<double>(stage.chunks.size())};
  for (std::int32_t chunk = 0; whole_first_stage && chunk < std::ssize(stage.chunks); ++chunk) {
    if (program.placement.holds_embedding({stage.position, chunk})) fresh.whole_chunk = chunk;
  }
  for (const step::TemplateSequence& sequence : stage.sequences) {
    double& most = fresh.bytes[static_cast<std::size_t>(sequence.chunk)];
    most = std::max(most, reduced_elements(program, sequence));
  }
  double all = 0;
  for (const double elements : fresh.bytes) all += elements;
  for (double& bytes : fresh.bytes) {
    const double share = all > 0 ? bytes / all : 1.0 / static_cast<double>(fresh.bytes.size());
    bytes = share * static_cast<double>(stage.states.gradients);
  }
  return fresh;
}

std::int64_t IdleModelChunkCounter::idle_chunks_during_slot(
    const step::PipelineScheduleSlot& slot) {
  const step::TemplateSequence& sequence =
      stage_.sequences[static_cast<std::size_t>(slot.sequence)];
  if (sequence.direction == schedule::Direction::kForward) ++of(sequence.chunk);
  const auto idle = std::ranges::count(in_flight_, 0);
  if (computes_weight_gradients(sequence)) --of(sequence.chunk);
  if (sequence.beside >= 0) --of(sequence.beside);
  return idle;
}

}  // namespace stepwright::memory
