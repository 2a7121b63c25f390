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

ComputeSeconds of_sequence(const StepProgram& program, const Sequence& sequence,
                           const Prices& prices) {
  ComputeSeconds sum{};
  for (const Item& item : sequence.items) {
    const auto which = static_cast<std::size_t>(item.which);
    const std::vector<Operator>& operators = program.templates[which].operators;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const Operator& op = operators[i];
      if (is_communication(op.kind) || op.stream != Stream::kCompute) continue;
      if (op.phase == Phase::kOptimizer) continue;
      const ComputeKind kind =
          is_of_vocabulary(item) ? ComputeKind::kVocabulary : kind_in_layer(op.kind);
      sum[static_cast<std::size_t>(kind)] += prices[which][i].seconds;
    }
  }
  return sum;
}

}  // namespace

ComputeSeconds compute_seconds(const StepProgram& program, const Stage& stage,
                               const Prices& prices) {
  std::vector<double> times(stage.sequences.size(), 0);
  for (const Slot& slot : stage.schedule) ++times[static_cast<std::size_t>(slot.sequence)];
  ComputeSeconds sum{};
  for (std::size_t i = 0; i < stage.sequences.size(); ++i) {
    const Sequence& sequence = stage.sequences[i];
    if (sequence.direction == Direction::kUpdate) continue;
    const ComputeSeconds once = of_sequence(program, sequence, prices);
    for (std::size_t kind = 0; kind < kComputeKinds; ++kind) sum[kind] += times[i] * once[kind];
  }
  return sum;
}

}  // namespace stepwright
