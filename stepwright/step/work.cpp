#include "stepwright/step/work.h"

#include <algorithm>
#include <cmath>

#include "stepwright/core/divide_up.h"
#include "stepwright/model/state_mixer.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/scan_purpose.h"

namespace stepwright::step {
namespace {

double product(std::initializer_list<std::int64_t> factors) {
  double result = 1;
  for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

double width(DType type) { return static_cast<double>(element_size_centibits(type)) / 800; }

double scores(const OperatorShape& s) { return product({s.batch, s.heads, s.queries, s.keys}); }

double fused_attention_flops(const Operator& op) {
  const OperatorShape& s = op.shape;
  // Forward: Q K^T and P V. Backward: Q K^T again, dQ and dK over head_dim; dV and dP over
  // value_dim.
  const std::int64_t over_head = is_backward_phase(op.phase) ? 3 : 1;
  const std::int64_t over_value = is_backward_phase(op.phase) ? 2 : 1;
  return 2 * product({s.batch, s.heads, s.pairs}) *
         product({over_head * s.head_dim + over_value * s.value_dim});
}

/// FLOPs of a scan. Its backward recomputes the states of the chunks and has two products for each
/// of the forward's (state-spaces/mamba, ssd_combined.py; fla-org/flash-linear-attention,
/// gated_delta_rule/chunk.py).
double scan_flops(const Operator& op) {
  const OperatorShape& s = op.shape;
  const model::RecurrentMixer mixer{.heads = s.heads,
                                    .head_dim = s.value_dim,
                                    .groups = s.kv_heads,
                                    .state = s.head_dim,
                                    .chunk = s.keys};
  const double forward = product({s.batch, s.queries}) *
                         model::recurrent_scan_flops_per_token(mixer, mixer_of_scan(op.purpose));
  return is_backward_phase(op.phase) ? 3 * forward : forward;
}

/// Elements that a scan moves for all its sequences.
struct ScanElements {
  double values = 0;    ///< Elements of the values of all heads; results are equally many.
  double keys = 0;      ///< Elements of the keys of all groups; queries are equally many.
  double states = 0;    ///< Elements of the states of all chunks.
  double products = 0;  ///< Elements of the products of queries and keys inside chunks.
};

ScanElements scan_elements(const OperatorShape& s) {
  const double tokens = product({s.batch, s.queries});
  const auto chunk = std::max<std::int64_t>(1, s.keys);
  return {
      .values = tokens * product({s.heads, s.value_dim}),
      .keys = tokens * product({s.kv_heads, s.head_dim}),
      .states = product({s.batch, ceil_divide(s.queries, chunk), s.heads, s.head_dim, s.value_dim}),
      .products = tokens * product({s.kv_heads, chunk})};
}

/// Bytes that the kernels of Mamba-2 move one after the other, each reading and writing its tensors
/// once. Forward: states of chunks, passing them on, products of C and B, results. Backward: the
/// first three again, then gradients of states, of x, B, C, of the products and of the decays
/// (state-spaces/mamba mamba_ssm/ops/triton/ssd_combined.py, _mamba_chunk_scan_combined_fwd and
/// _bwd). States are written in fp32 and passed on in the type of C; products are in fp32.
double mamba2_bytes(const Operator& op) {
  const ScanElements n = scan_elements(op.shape);
  const double w = width(op.dtype);
  constexpr double kExact = 4;
  if (is_backward_phase(op.phase)) {
    return 11 * w * n.values + (11 * w + 4 * kExact) * n.keys + (2 * kExact + 9 * w) * n.states +
           6 * kExact * n.products;
  }
  return 3 * w * n.values + 4 * w * n.keys + (2 * kExact + 2 * w) * n.states +
         2 * kExact * n.products;
}

/// Bytes that a scan moves. For all scans except Mamba-2: queries, keys, values and results of
/// every token, and the state of each chunk, written and read in fp32.
double scan_bytes(const Operator& op) {
  if (op.purpose == OperatorPurpose::kMamba2Scan) return mamba2_bytes(op);
  const ScanElements n = scan_elements(op.shape);
  const double forward = width(op.dtype) * (2 * n.keys + 2 * n.values) + 2 * 4 * n.states;
  return is_backward_phase(op.phase) ? 3 * forward : forward;
}

/// Approximate FLOPs per element of a vector operator.
double vector_flops(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kNorm:
    case OperatorKind::kActivation: return 8;
    case OperatorKind::kRotary:
    case OperatorKind::kLossLocal: return 4;
    case OperatorKind::kDropout:
    case OperatorKind::kUnpermute:
    case OperatorKind::kTopK: return 2;
    case OperatorKind::kAdd:
    case OperatorKind::kAccumulate: return 1;
    default: return 0;
  }
}

double matrix_bytes(const Operator& op, std::int64_t matrices) {
  const OperatorShape& s = op.shape;
  const double operands = product({s.rows, s.inner}) + product({matrices, s.inner, s.columns});
  const double result = product({s.rows, s.columns});
  const double narrow = width(op.dtype);
  const double stored = width(plan::parameter_storage_type(op.dtype));
  const double per_operand = narrow < stored ? stored + 2 * narrow : stored;
  return operands * per_operand + result * stored;
}

double attention_bytes(const Operator& op) {
  const OperatorShape& s = op.shape;
  const double queries = product({s.batch, s.queries, s.heads, s.head_dim});
  const double outputs = product({s.batch, s.queries, s.heads, s.value_dim});
  const double keys = product({s.batch, s.keys, s.kv_heads, s.head_dim});
  const double values = product({s.batch, s.keys, s.kv_heads, s.value_dim});
  switch (op.kind) {
    case OperatorKind::kScores: return width(op.dtype) * (queries + keys + scores(s));
    case OperatorKind::kAttendValues: return width(op.dtype) * (scores(s) + values + outputs);
    default: break;
  }
  const double forward = queries + keys + values + outputs;
  // The backward reads the forward's four tensors and the result's gradient, and writes three
  // gradients.
  return width(op.dtype) * (is_backward_phase(op.phase) ? 2 * forward : forward);
}

/// Bytes moved per element by `cat([t + b * p for each expert])` (NVIDIA/Megatron-LM
/// megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias). Forward: b * p is written,
/// then added, then the sum is copied into the concatenation. Backward: two products that are
/// summed, for the bias and for the weight p, and a copy. If p is fp32, all of this runs in fp32
/// between casts.
double expert_bias_bytes(const Operator& op) {
  const double w = width(op.dtype);
  const bool casts = op.dtype == DType::kFp32;
  if (is_backward_phase(op.phase)) return (casts ? 10 : 8) * w;
  return (casts ? 7 : 6) * w;
}

/// Number of times that each of `rows x columns` elements is read or written.
double passes(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return is_backward_phase(op.phase) ? 3 : 2;  // a backward adds into the table's gradient
    case OperatorKind::kNorm:
      return is_backward_phase(op.phase) ? 4 : 2;  // a backward also adds the residual's gradient
    case OperatorKind::kActivation:
      if (op.gated) return is_backward_phase(op.phase) ? 5 : 3;
      return is_backward_phase(op.phase) ? 3 : 2;
    case OperatorKind::kSoftmax: return is_backward_phase(op.phase) ? 3 : 2;
    case OperatorKind::kConvolution: return is_backward_phase(op.phase) ? 4 : 2;
    case OperatorKind::kAdd:
    case OperatorKind::kAccumulate: return 3;
    default: return 2;
  }
}

}  // namespace

double operator_flops(const Operator& op) {
  const OperatorShape& s = op.shape;
  switch (op.kind) {
    case OperatorKind::kLinear:
    case OperatorKind::kGroupedLinear: return 2 * product({s.rows, s.inner, s.columns});
    case OperatorKind::kAttention: return fused_attention_flops(op);
    case OperatorKind::kScores: return 2 * scores(s) * product({s.head_dim});
    case OperatorKind::kAttendValues: return 2 * scores(s) * product({s.value_dim});
    case OperatorKind::kSoftmax: return 5 * scores(s);
    case OperatorKind::kScan: return scan_flops(op);
    case OperatorKind::kConvolution:
      return (is_backward_phase(op.phase) ? 4 : 2) * product({s.rows, s.columns, s.inner});
    case OperatorKind::kNormSquare: return 2 * product({s.rows});
    case OperatorKind::kOptimizer: return 12 * product({s.rows});
    case OperatorKind::kOrthogonalize:
      return static_cast<double>(kNewtonSchulzSteps) * product({s.rows, s.inner});
    case OperatorKind::kCopyToHost:
    case OperatorKind::kHostOptimizer:
    case OperatorKind::kCopyFromHost: return 0;  // the device computes nothing
    default: return vector_flops(op.kind) * product({s.rows, s.columns});
  }
}

double device_memory_traffic_bytes(const Operator& op) {
  if (is_communication(op.kind)) return 0;
  const OperatorShape& s = op.shape;
  switch (op.kind) {
    case OperatorKind::kLinear: return matrix_bytes(op, 1);
    case OperatorKind::kGroupedLinear: return matrix_bytes(op, s.batch);
    case OperatorKind::kAttention:
    case OperatorKind::kScores:
    case OperatorKind::kAttendValues: return attention_bytes(op);
    case OperatorKind::kSoftmax: return passes(op) * width(op.dtype) * scores(s);
    case OperatorKind::kScan: return scan_bytes(op);
    case OperatorKind::kNormSquare: return width(op.dtype) * product({s.rows});
    case OperatorKind::kOptimizer: return product({s.rows, s.inner});
    case OperatorKind::kOrthogonalize:
      // Each Newton-Schulz step reads the matrix for both of its products and writes it.
      return 3 * width(op.dtype) * static_cast<double>(kNewtonSchulzSteps) *
             product({s.rows, s.columns});
    case OperatorKind::kCopyToHost:
    case OperatorKind::kCopyFromHost: return width(op.dtype) * product({s.rows});
    case OperatorKind::kHostOptimizer: return 0;
    case OperatorKind::kAdd:
      if (op.purpose != OperatorPurpose::kExpertBias) break;
      return expert_bias_bytes(op) * product({s.rows, s.columns});
    case OperatorKind::kDequantize:
      return (width(op.dtype) + static_cast<double>(s.inner) / 800) * product({s.rows, s.columns});
    default: break;
  }
  const double mask = op.kind == OperatorKind::kDropout ? 1 : 0;  // the mask has a byte per element
  return (passes(op) * width(op.dtype) + mask) * product({s.rows, s.columns});
}

double expected_distinct_count(std::int64_t places, std::int64_t draws) {
  const auto n = static_cast<double>(places);
  return n * (1 - std::pow(1 - 1 / n, static_cast<double>(draws)));
}

}  // namespace stepwright::step
