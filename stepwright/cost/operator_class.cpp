#include "stepwright/cost/operator_class.h"

namespace stepwright {

std::optional<OperatorClass> class_of(const Operator& op, const Kernels& kernels) {
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kGroupedLinear: return OperatorClass::kProduct;
    case OperatorKind::kScores: return OperatorClass::kScores;
    case OperatorKind::kAttendValues: return OperatorClass::kAttendValues;
    case OperatorKind::kAttention: return OperatorClass::kAttention;
    case OperatorKind::kSoftmax:
      if (!kernels.fused_softmax) return std::nullopt;  // Scale, mask and softmax: several classes.
      return OperatorClass::kCausalSoftmax;
    case OperatorKind::kNorm:
      return kernels.fused_norm ? OperatorClass::kNorm : OperatorClass::kUnfusedNorm;
    case OperatorKind::kActivation:
      if (op.gated && !(kernels.fused_norm && kernels.fused_activation)) return std::nullopt;
      return OperatorClass::kActivation;
    case OperatorKind::kRotary:
      if (op.purpose == Purpose::kScaledRotary) return OperatorClass::kUnfusedRotary;
      if (kernels.fused_norm && kernels.fused_activation) return std::nullopt;
      return OperatorClass::kUnfusedRotary;
    case OperatorKind::kAdd:
      if (op.purpose == Purpose::kExpertBias) return std::nullopt;
      return OperatorClass::kResidual;
    case OperatorKind::kEmbedding: return OperatorClass::kEmbedding;
    case OperatorKind::kLossLocal:
      if (op.purpose == Purpose::kDocumentLoss) return std::nullopt;
      if (kernels.fused_cross_entropy) return std::nullopt;
      return OperatorClass::kLoss;
    case OperatorKind::kOptimizer:
      if (op.purpose == Purpose::kOtherUpdate) return std::nullopt;
      return OperatorClass::kOptimizer;
    default: return std::nullopt;
  }
}

}  // namespace stepwright
