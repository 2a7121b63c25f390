#include "stepwright/simulate/timeline/compute_kind.h"

#include <vector>

namespace stepwright {
namespace {

/// The kind of a computation that stands in a layer.
ComputeKind kind_in_layer(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kLinear: return ComputeKind::kProducts;
    case OperatorKind::kAttention:
    case OperatorKind::kScores:
    case OperatorKind::kSoftmax:
    case OperatorKind::kAttendValues: return ComputeKind::kAttention;
    case OperatorKind::kGroupedLinear: return ComputeKind::kExperts;
    case OperatorKind::kTopK:
    case OperatorKind::kPermute:
    case OperatorKind::kUnpermute: return ComputeKind::kRouting;
    default: return ComputeKind::kMemoryBound;
  }
}

bool is_of_vocabulary(const Item& item) {
  return item.units.size() == 1 &&
         (item.units.front() == kEmbeddingUnit || item.units.front() == kHeadUnit);
}

ComputeSplit of_sequence(const StepProgram& program, const Sequence& sequence,
                         const Prices& prices) {
  ComputeSplit sum;
  for (const Item& item : sequence.items) {
    const auto which = static_cast<std::size_t>(item.which);
    const std::vector<Operator>& operators = program.templates[which].operators;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const Operator& op = operators[i];
      if (is_communication(op.kind) || op.stream != Stream::kCompute) continue;
      if (op.phase == Phase::kOptimizer) continue;
      const auto kind = static_cast<std::size_t>(is_of_vocabulary(item) ? ComputeKind::kVocabulary
                                                                        : kind_in_layer(op.kind));
      const double seconds = prices[which][i].seconds;
      sum.all[kind] += seconds;
      if (op.phase == Phase::kRecompute) sum.recomputed[kind] += seconds;
    }
  }
  return sum;
}

}  // namespace

ComputeSplit compute_seconds(const StepProgram& program, const Stage& stage, const Prices& prices) {
  std::vector<double> times(stage.sequences.size(), 0);
  for (const Slot& slot : stage.schedule) ++times[static_cast<std::size_t>(slot.sequence)];
  ComputeSplit sum;
  for (std::size_t i = 0; i < stage.sequences.size(); ++i) {
    const Sequence& sequence = stage.sequences[i];
    if (sequence.direction == Direction::kUpdate) continue;
    const ComputeSplit once = of_sequence(program, sequence, prices);
    for (std::size_t kind = 0; kind < kComputeKinds; ++kind) {
      sum.all[kind] += times[i] * once.all[kind];
      sum.recomputed[kind] += times[i] * once.recomputed[kind];
    }
  }
  return sum;
}

}  // namespace stepwright
