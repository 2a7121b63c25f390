#include "stepwright/cost/laws/operator_class.h"

namespace stepwright::cost {

std::optional<OperatorClass> priced_operator_class(const step::Operator& op,
                                                   const plan::FrameworkKernels& kernels) {
  switch (op.kind) {
    case step::OperatorKind::kLinear:
    case step::OperatorKind::kGroupedLinear: return OperatorClass::kProduct;
    case step::OperatorKind::kScores: return OperatorClass::kScores;
    case step::OperatorKind::kAttendValues: return OperatorClass::kAttendValues;
    case step::OperatorKind::kAttention: return OperatorClass::kAttention;
    case step::OperatorKind::kSoftmax:
      // Unfused scale, mask and softmax belong to several classes.
      if (!kernels.fused_softmax) return std::nullopt;
      return OperatorClass::kCausalSoftmax;
    case step::OperatorKind::kNorm:
      return kernels.fused_norm ? OperatorClass::kNorm : OperatorClass::kUnfusedNorm;
    case step::OperatorKind::kActivation:
      if (op.gated && !(kernels.fused_norm && kernels.fused_activation)) return std::nullopt;
      return OperatorClass::kActivation;
    case step::OperatorKind::kRotary:
      if (op.purpose == step::OperatorPurpose::kScaledRotary) return OperatorClass::kUnfusedRotary;
      if (kernels.fused_norm && kernels.fused_activation) return std::nullopt;
      return OperatorClass::kUnfusedRotary;
    case step::OperatorKind::kAdd:
      if (op.purpose == step::OperatorPurpose::kExpertBias) return std::nullopt;
      return OperatorClass::kResidual;
    case step::OperatorKind::kEmbedding: return OperatorClass::kEmbedding;
    case step::OperatorKind::kLossLocal:
      if (op.purpose == step::OperatorPurpose::kDocumentLoss) return std::nullopt;
      if (kernels.fused_loss()) return std::nullopt;
      return OperatorClass::kLoss;
    case step::OperatorKind::kOptimizer:
      if (op.purpose == step::OperatorPurpose::kOtherUpdate) return std::nullopt;
      return OperatorClass::kOptimizer;
    default: return std::nullopt;
  }
}

}  // namespace stepwright::cost
