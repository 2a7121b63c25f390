#include "stepwright/fit/samples/kineto_operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/scalar.h"

namespace stepwright::fit {
namespace {

using Sizes = std::vector<std::int64_t>;

/// How an operator's shape follows from the sizes of its inputs.
enum class Form : std::uint8_t {
  kProduct,    ///< [rows, inner] x [inner, columns]
  kWeight,     ///< [..., inner] and a weight [columns, inner]
  kBatched,    ///< [batch, ., .] x [batch, ., .]: a product of unfused attention
  kAttention,  ///< [batch, heads, length, head_dim] three times
  kNorm,       ///< [..., columns], then the normalised sizes
  kScores,     ///< [batch, heads, queries, keys]
  kRows,       ///< one input [..., columns]
  kSum,        ///< Two inputs of one shape [..., columns]
  kLookUp,     ///< [vocabulary, columns] and indices
  kScatter,    ///< [..., columns], indices, number of rows of the table
};

struct KnownOperator {
  std::string_view name;
  cost::OperatorClass what;
  step::OperatorKind kind;
  Form form;
  std::size_t input = 0;  ///< Index of the first input that the form uses.
  cost::OperatorPass pass = cost::OperatorPass::kForward;
  std::size_t causal = 0;  ///< Index of the input that states whether an attention is causal.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
};

constexpr cost::OperatorPass kBack = cost::OperatorPass::kBackward;

/// Operators of PyTorch 2.1 and later; a memory-efficient attention counts as flash1, the kernel
/// with its design.
constexpr KnownOperator kKnownOperators[] = {
    {"aten::mm", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Form::kProduct},
    {"aten::addmm", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Form::kProduct, 1},
    {"aten::linear", cost::OperatorClass::kProduct, step::OperatorKind::kLinear, Form::kWeight},
    {"aten::bmm", cost::OperatorClass::kScores, step::OperatorKind::kScores, Form::kBatched},
    {"aten::_scaled_dot_product_flash_attention", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 0, cost::OperatorPass::kForward, 4},
    {"aten::_scaled_dot_product_flash_attention_backward", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 1, kBack, 11},
    {"aten::_scaled_dot_product_efficient_attention", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 0, cost::OperatorPass::kForward, 6,
     cluster::AttentionKernel::kFlash1},
    {"aten::_scaled_dot_product_efficient_attention_backward", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 1, kBack, 11,
     cluster::AttentionKernel::kFlash1},
    {"aten::_scaled_dot_product_cudnn_attention", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 0, cost::OperatorPass::kForward, 6,
     cluster::AttentionKernel::kCudnn},
    {"aten::_scaled_dot_product_cudnn_attention_backward", cost::OperatorClass::kAttention,
     step::OperatorKind::kAttention, Form::kAttention, 1, kBack, 14,
     cluster::AttentionKernel::kCudnn},
    {"aten::native_layer_norm", cost::OperatorClass::kNorm, step::OperatorKind::kNorm, Form::kNorm},
    {"aten::native_layer_norm_backward", cost::OperatorClass::kNorm, step::OperatorKind::kNorm,
     Form::kNorm, 1, kBack},
    {"aten::_fused_rms_norm", cost::OperatorClass::kNorm, step::OperatorKind::kNorm, Form::kNorm},
    {"aten::_fused_rms_norm_backward", cost::OperatorClass::kNorm, step::OperatorKind::kNorm,
     Form::kNorm, 1, kBack},
    {"aten::rms_norm", cost::OperatorClass::kUnfusedNorm, step::OperatorKind::kNorm, Form::kNorm},
    {"aten::_softmax", cost::OperatorClass::kUnfusedSoftmax, step::OperatorKind::kSoftmax,
     Form::kScores},
    {"aten::_softmax_backward_data", cost::OperatorClass::kUnfusedSoftmax,
     step::OperatorKind::kSoftmax, Form::kScores, 0, kBack},
    {"aten::masked_fill", cost::OperatorClass::kMask, step::OperatorKind::kSoftmax, Form::kScores},
    {"aten::masked_fill_", cost::OperatorClass::kMask, step::OperatorKind::kSoftmax, Form::kScores},
    {"aten::gelu", cost::OperatorClass::kActivation, step::OperatorKind::kActivation, Form::kRows},
    {"aten::gelu_backward", cost::OperatorClass::kActivation, step::OperatorKind::kActivation,
     Form::kRows, 0, kBack},
    {"aten::silu", cost::OperatorClass::kActivation, step::OperatorKind::kActivation, Form::kRows},
    {"aten::silu_backward", cost::OperatorClass::kActivation, step::OperatorKind::kActivation,
     Form::kRows, 0, kBack},
    {"aten::relu", cost::OperatorClass::kActivation, step::OperatorKind::kActivation, Form::kRows},
    {"aten::threshold_backward", cost::OperatorClass::kActivation, step::OperatorKind::kActivation,
     Form::kRows, 0, kBack},
    {"aten::add", cost::OperatorClass::kResidual, step::OperatorKind::kAdd, Form::kSum},
    {"aten::add_", cost::OperatorClass::kResidual, step::OperatorKind::kAdd, Form::kSum},
    {"aten::embedding", cost::OperatorClass::kEmbedding, step::OperatorKind::kEmbedding,
     Form::kLookUp},
    {"aten::embedding_dense_backward", cost::OperatorClass::kEmbedding,
     step::OperatorKind::kEmbedding, Form::kScatter, 0, kBack},
    {"aten::cross_entropy_loss", cost::OperatorClass::kLoss, step::OperatorKind::kLossLocal,
     Form::kRows}};

constexpr double kMostElements = 0x1p40;

bool holds_elements(const Sizes& sizes) {
  double count = 1;
  for (const std::int64_t size : sizes) count *= size < 1 ? 0 : static_cast<double>(size);
  return count >= 1 && count <= kMostElements;
}

const KnownOperator* known_operator(std::string_view name) {
  const auto* found = std::ranges::find(kKnownOperators, name, &KnownOperator::name);
  return found == std::end(kKnownOperators) ? nullptr : found;
}

std::int64_t elements(const Sizes& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

/// Returns the shape of rows along the last dimension.
step::OperatorShape rows_of(const Sizes& sizes) {
  return {.rows = elements(sizes) / sizes.back(), .columns = sizes.back()};
}

/// Reads the inputs of one operator; `refusal` says why they do not fit its form.
class Mapping {
 public:
  Mapping(const logs::KinetoOperatorSignature& op, const KnownOperator& known,
          const SoftmaxSizes& softmaxes)
      : given_(op), known_(known), softmaxes_(softmaxes) {}

  std::variant<TranslatedOperator, UntranslatedReason> map() {
    out_ = {.what = known_.what, .pass = known_.pass, .kernel = known_.kernel};
    out_.op.kind = known_.kind;
    read_type();
    if (refusal_.empty()) read_form();
    if (!refusal_.empty()) return UntranslatedReason{refusal_};
    return out_;
  }

 private:
  /// Returns the sizes of an input; empty if it has no elements, or more than any device holds.
  [[nodiscard]] Sizes input(std::size_t index) const {
    if (known_.input + index >= given_.dims.size()) return {};
    const Sizes& sizes = given_.dims[known_.input + index];
    return holds_elements(sizes) ? sizes : Sizes();
  }

  [[nodiscard]] std::string value(std::size_t index) const {
    return index < given_.values.size() ? given_.values[index] : std::string();
  }

  void refuse(std::string reason) { refusal_ = std::move(reason); }

  /// Reads the type: 16 bits, since the peaks of a profile are in 16 bits; for the loss fp32, as
  /// `kLossLocal` counts.
  void read_type() {
    const std::string type =
        known_.input < given_.types.size() ? given_.types[known_.input] : std::string();
    if (known_.what == cost::OperatorClass::kLoss) {
      out_.op.dtype = DType::kFp32;
      if (type != "float") refuse("not in fp32");
    } else if (type == "c10::BFloat16") {
      out_.op.dtype = DType::kBf16;
    } else if (type == "c10::Half") {
      out_.op.dtype = DType::kFp16;
    } else {
      refuse("not in 16 bits");
    }
  }

  void read_form() {
    switch (known_.form) {
      case Form::kProduct: return read_product();
      case Form::kWeight: return read_weight();
      case Form::kBatched: return read_batched();
      case Form::kAttention: return read_attention();
      case Form::kNorm: return read_norm();
      case Form::kScores: return read_scores();
      case Form::kRows: return read_rows();
      case Form::kSum: return read_sum();
      case Form::kLookUp: return read_look_up();
      case Form::kScatter: return read_scatter();
    }
  }

  void refuse_sizes() { refuse("other sizes than the operator has"); }

  void read_product() {
    const Sizes left = input(0), right = input(1);
    if (left.size() != 2 || right.size() != 2 || left[1] != right[0]) return refuse_sizes();
    out_.op.shape = {.rows = left[0], .columns = right[1], .inner = left[1]};
    out_.hold_out = left[1];
  }

  void read_weight() {
    const Sizes left = input(0), weight = input(1);
    if (left.size() < 2 || weight.size() != 2 || left.back() != weight[1]) return refuse_sizes();
    out_.op.shape = {
        .rows = elements(left) / left.back(), .columns = weight[0], .inner = weight[1]};
    out_.hold_out = weight[1];
  }

  void read_batched() {
    const Sizes left = input(0), right = input(1);
    if (left.size() != 3 || right.size() != 3 || left[0] != right[0] || left[2] != right[1]) {
      return refuse_sizes();
    }
    for (const Sizes& scores : softmaxes_) {
      if (scores[0] * scores[1] != left[0] || scores[2] != left[1]) continue;
      if (scores[3] == right[2] && scores[3] != left[2]) return set_batched(scores, left[2]);
      if (scores[3] == left[2] && scores[3] != right[2]) {
        out_.what = cost::OperatorClass::kAttendValues;
        out_.op.kind = step::OperatorKind::kAttendValues;
        return set_batched(scores, right[2]);
      }
    }
    refuse("no softmax tells scores from values");
  }

  void set_batched(const Sizes& scores, std::int64_t head_dim) {
    set_scores(scores);
    out_.op.shape.head_dim = out_.op.shape.value_dim = head_dim;
    out_.hold_out = scores[1] * head_dim;
  }

  void set_scores(const Sizes& scores) {
    out_.op.shape = {.batch = scores[0],
                     .heads = scores[1],
                     .kv_heads = scores[1],
                     .queries = scores[2],
                     .keys = scores[3],
                     .pairs = scores[2] * scores[3]};
    out_.hold_out = scores[1];
  }

  void read_attention() {
    const Sizes query = input(0), key = input(1), values = input(2);
    const bool four = query.size() == 4 && key.size() == 4 && values.size() == 4;
    if (!four || query[3] != key[3] || query[0] != key[0]) return refuse_sizes();
    const std::string causal = value(known_.causal);
    if (causal != "True" && causal != "False") return refuse("does not state whether it is causal");
    if (causal == "True" && query[2] != key[2]) return refuse("causal over another length");
    out_.op.shape = {.batch = query[0],
                     .heads = query[1],
                     .kv_heads = key[1],
                     .queries = query[2],
                     .keys = key[2],
                     .head_dim = query[3],
                     .value_dim = values[3],
                     .pairs = causal == "True" ? query[2] * (query[2] + 1) / 2 : query[2] * key[2]};
    out_.hold_out = query[1] * query[3];
  }

  void read_norm() {
    const Sizes sizes = input(0);
    if (sizes.size() < 2) return refuse_sizes();
    if (value(known_.input + 1) != fmt::format("[{}]", sizes.back())) {
      return refuse("not over the last dimension alone");
    }
    set_rows(sizes);
  }

  void set_rows(const Sizes& sizes) {
    out_.op.shape = rows_of(sizes);
    out_.hold_out = sizes.back();
  }

  void read_scores() {
    const Sizes sizes = input(0);
    if (sizes.size() != 4) return refuse("not over attention scores");
    set_scores(sizes);
  }

  void read_rows() {
    const Sizes sizes = input(0);
    if (sizes.size() < 2) return refuse_sizes();
    set_rows(sizes);
  }

  void read_sum() {
    const Sizes sizes = input(0);
    if (sizes.size() < 2 || input(1) != sizes) return refuse("not two of the same size");
    set_rows(sizes);
  }

  void read_look_up() {
    const Sizes table = input(0), indices = input(1);
    if (table.size() != 2 || indices.empty()) return refuse_sizes();
    set_look_up(elements(indices), table[1], table[0]);
  }

  void read_scatter() {
    const Sizes gradient = input(0);
    const IntegerParseResult rows = read_integer(value(known_.input + 2));
    if (gradient.size() < 2 || rows.status != IntegerParseResult::IntegerParseStatus::kGood ||
        rows.value < 1) {
      return refuse_sizes();
    }
    set_look_up(elements(gradient) / gradient.back(), gradient.back(), rows.value);
  }

  void set_look_up(std::int64_t rows, std::int64_t columns, std::int64_t vocabulary) {
    out_.op.shape = {.rows = rows, .columns = columns, .inner = vocabulary};
    out_.hold_out = columns;
  }

  const logs::KinetoOperatorSignature& given_;
  const KnownOperator& known_;
  const SoftmaxSizes& softmaxes_;
  TranslatedOperator out_;
  std::string refusal_;
};

}  // namespace

SoftmaxSizes softmax_sizes(const logs::KinetoTrace& trace) {
  SoftmaxSizes sizes;
  for (const logs::KinetoOperatorSignature& op : trace.signatures) {
    if (op.name != "aten::_softmax" || op.dims.empty()) continue;
    if (op.dims[0].size() == 4 && holds_elements(op.dims[0])) sizes.insert(op.dims[0]);
  }
  return sizes;
}

KinetoOperatorRole role_of(std::string_view name) {
  const KnownOperator* known = known_operator(name);
  if (known == nullptr) return KinetoOperatorRole::kNone;
  return known->form == Form::kSum ? KinetoOperatorRole::kElementwise : KinetoOperatorRole::kMapped;
}

std::variant<TranslatedOperator, UntranslatedReason> timing_sample_of_profiled_operator(
    const logs::KinetoOperatorSignature& op, const SoftmaxSizes& softmaxes) {
  const KnownOperator* known = known_operator(op.name);
  if (known == nullptr) return UntranslatedReason{"no operator of ours"};
  if (op.dims.empty()) return UntranslatedReason{"no sizes recorded"};
  return Mapping(op, *known, softmaxes).map();
}

}  // namespace stepwright::fit
