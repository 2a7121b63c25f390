// The table of computations: adding an operator is one file and one row.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

struct Row {
  OperatorKind kind;
  Kernel forward = nullptr;
  Kernel data_gradient = nullptr;
  Kernel weight_gradient = nullptr;
};

constexpr Row kTable[] = {
    {OperatorKind::kEmbedding, embedding_forward, nullptr, embedding_weight_gradient},
    {OperatorKind::kNorm, norm_forward, norm_backward_kernel},
    {OperatorKind::kLinear, linear_forward, linear_data_gradient_kernel,
     linear_weight_gradient_kernel},
    {OperatorKind::kGroupedLinear, grouped_linear_forward, grouped_linear_data_gradient,
     grouped_linear_weight_gradient},
    {OperatorKind::kTopK, top_k_forward, top_k_backward},
    {OperatorKind::kPermute, permute_rows, permute_rows},
    {OperatorKind::kUnpermute, unpermute_rows, unpermute_rows},
    {OperatorKind::kRotary, rotary_forward, rotary_backward},
    {OperatorKind::kAttention, attention_forward, attention_backward},
    {OperatorKind::kConvolution, convolution_forward, convolution_backward},
    {OperatorKind::kScan, scan_forward, scan_backward},
    {OperatorKind::kActivation, activation_forward, activation_backward},
    {OperatorKind::kDropout, dropout_forward, dropout_backward},
    {OperatorKind::kAdd, add_forward, add_backward},
    {OperatorKind::kAccumulate, nullptr, accumulate_forward, accumulate_weight_gradient},
    {OperatorKind::kLossLocal, loss_forward, loss_backward},
    {OperatorKind::kNormSquare, norm_square},
    {OperatorKind::kOptimizer, optimizer_update},
    {OperatorKind::kOrthogonalize, orthogonal_update},
    {OperatorKind::kCopyToHost, host_copy, nullptr, host_copy},
    {OperatorKind::kHostOptimizer, host_update},
    {OperatorKind::kCopyFromHost, host_copy, host_copy},
};

}  // namespace

Kernel find_kernel(const Operator& op) {
  for (const Row& row : kTable) {
    if (row.kind != op.kind) continue;
    if (op.phase == Phase::kDataGradient) return row.data_gradient;
    if (op.phase == Phase::kWeightGradient) return row.weight_gradient;
    return row.forward;
  }
  return nullptr;
}

}  // namespace stepwright
