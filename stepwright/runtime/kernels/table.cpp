// The table of computations and their kernels: adding an operator takes one file and one row.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

struct Row {
  step::OperatorKind kind;
  Kernel forward = nullptr;
  Kernel data_gradient = nullptr;
  Kernel weight_gradient = nullptr;
};

constexpr Row kTable[] = {
    {step::OperatorKind::kEmbedding, embedding_forward, nullptr, embedding_weight_gradient},
    {step::OperatorKind::kNorm, norm_forward, norm_backward_kernel},
    {step::OperatorKind::kLinear, linear_forward, linear_data_gradient_kernel,
     linear_weight_gradient_kernel},
    {step::OperatorKind::kGroupedLinear, grouped_linear_forward, grouped_linear_data_gradient,
     grouped_linear_weight_gradient},
    {step::OperatorKind::kTopK, top_k_forward, top_k_backward},
    {step::OperatorKind::kPermute, permute_rows, permute_rows},
    {step::OperatorKind::kUnpermute, unpermute_rows, unpermute_rows},
    {step::OperatorKind::kRotary, rotary_forward, rotary_backward},
    {step::OperatorKind::kAttention, attention_forward, attention_backward},
    {step::OperatorKind::kConvolution, convolution_forward, convolution_backward},
    {step::OperatorKind::kScan, scan_forward, scan_backward},
    {step::OperatorKind::kActivation, activation_forward, activation_backward},
    {step::OperatorKind::kDropout, dropout_forward, dropout_backward},
    {step::OperatorKind::kAdd, add_forward, add_backward},
    {step::OperatorKind::kAccumulate, nullptr, accumulate_forward, accumulate_weight_gradient},
    {step::OperatorKind::kLossLocal, loss_forward, loss_backward},
    {step::OperatorKind::kNormSquare, norm_square},
    {step::OperatorKind::kOptimizer, optimizer_update},
    {step::OperatorKind::kOrthogonalize, orthogonal_update},
    {step::OperatorKind::kCopyToHost, host_copy, nullptr, host_copy},
    {step::OperatorKind::kHostOptimizer, host_update},
    {step::OperatorKind::kCopyFromHost, host_copy, host_copy},
};

}  // namespace

Kernel find_kernel(const step::Operator& op) {
  for (const Row& row : kTable) {
    if (row.kind != op.kind) continue;
    if (op.phase == step::Phase::kDataGradient) return row.data_gradient;
    if (op.phase == step::Phase::kWeightGradient) return row.weight_gradient;
    return row.forward;
  }
  return nullptr;
}

}  // namespace stepwright::runtime
