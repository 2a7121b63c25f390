#include "stepwright/simulate/timeline/compute_kind.h"

#include <vector>

#include "stepwright/step/work.h"

namespace stepwright::simulate {
namespace {

/// Returns the kind of a computation inside a layer.
ComputationKind kind_in_layer(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kLinear: return ComputationKind::kProducts;
    case step::OperatorKind::kAttention:
    case step::OperatorKind::kScores:
    case step::OperatorKind::kSoftmax:
    case step::OperatorKind::kAttendValues: return ComputationKind::kAttention;
    case step::OperatorKind::kGroupedLinear: return ComputationKind::kExperts;
    case step::OperatorKind::kTopK:
    case step::OperatorKind::kPermute:
    case step::OperatorKind::kUnpermute: return ComputationKind::kRouting;
    default: return ComputationKind::kMemoryBound;
  }
}

bool is_of_vocabulary(const step::TemplateSequenceItem& item) {
  return item.units.size() == 1 && (item.units.front() == step::kEmbeddingBlockNumber ||
                                    item.units.front() == step::kHeadBlockNumber);
}

bool multiplies(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kLinear:
    case step::OperatorKind::kGroupedLinear:
    case step::OperatorKind::kAttention:
    case step::OperatorKind::kScores:
    case step::OperatorKind::kAttendValues: return true;
    default: return false;
  }
}

double useful_flops(const step::StepProgram& program, const step::TemplateSequence& sequence) {
  double sum = 0;
  for (const step::TemplateSequenceItem& item : sequence.items) {
    for (const step::Operator& op :
         program.templates[static_cast<std::size_t>(item.which)].operators) {
      if (op.stream != step::DeviceStream::kCompute || op.phase == step::Phase::kRecompute)
        continue;
      if (multiplies(op.kind)) sum += static_cast<double>(op.repeats) * step::operator_flops(op);
    }
  }
  return sum;
}

/// Returns how many slots of a step run each sequence.
std::vector<double> times_of_sequences(const step::PipelineStageProgram& stage) {
  std::vector<double> times(stage.sequences.size(), 0);
  for (const step::PipelineScheduleSlot& slot : stage.schedule)
    ++times[static_cast<std::size_t>(slot.sequence)];
  return times;
}

ComputationSecondsByKind of_sequence(const step::StepProgram& program,
                                     const step::TemplateSequence& sequence, const Prices& prices) {
  ComputationSecondsByKind sum;
  for (const step::TemplateSequenceItem& item : sequence.items) {
    const auto which = static_cast<std::size_t>(item.which);
    const std::vector<step::Operator>& operators = program.templates[which].operators;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const step::Operator& op = operators[i];
      if (step::is_communication(op.kind) || op.stream != step::DeviceStream::kCompute) continue;
      if (op.phase == step::Phase::kOptimizer) continue;
      const auto kind = static_cast<std::size_t>(
          is_of_vocabulary(item) ? ComputationKind::kVocabulary : kind_in_layer(op.kind));
      const double seconds = prices[which][i].seconds;
      sum.all[kind] += seconds;
      if (op.phase == step::Phase::kRecompute) sum.recomputed[kind] += seconds;
    }
  }
  return sum;
}

}  // namespace

ComputationSecondsByKind computation_seconds_by_kind(const step::StepProgram& program,
                                                     const step::PipelineStageProgram& stage,
                                                     const Prices& prices) {
  const std::vector<double> times = times_of_sequences(stage);
  ComputationSecondsByKind sum;
  for (std::size_t i = 0; i < stage.sequences.size(); ++i) {
    const step::TemplateSequence& sequence = stage.sequences[i];
    if (sequence.direction == schedule::Direction::kUpdate) continue;
    const ComputationSecondsByKind once = of_sequence(program, sequence, prices);
    for (std::size_t kind = 0; kind < kComputeKinds; ++kind) {
      sum.all[kind] += times[i] * once.all[kind];
      sum.recomputed[kind] += times[i] * once.recomputed[kind];
    }
  }
  return sum;
}

double useful_flops_of_stage(const step::StepProgram& program,
                             const step::PipelineStageProgram& stage) {
  const std::vector<double> times = times_of_sequences(stage);
  double sum = 0;
  for (std::size_t i = 0; i < stage.sequences.size(); ++i) {
    if (stage.sequences[i].direction == schedule::Direction::kUpdate) continue;
    sum += times[i] * useful_flops(program, stage.sequences[i]);
  }
  return sum;
}

}  // namespace stepwright::simulate
