#include "stepwright/fit/own_cluster/host_operator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stepwright::fit {
namespace {

using Sizes = std::vector<std::int64_t>;

struct NamedPart {
  std::string_view part;
  step::OperatorKind kind;
};

/// Parts of names that determine the kind, more special ones first. FSDP's hooks and copies into
/// and out of messages are listed; DDP's copies out of its buckets count as sums of gradients.
constexpr auto kCertainParts = std::to_array<NamedPart>({
    {"AccumulateGrad", step::OperatorKind::kAccumulate},
    {"ddp.reducer", step::OperatorKind::kAccumulate},
    {"FSDP::post_backward", step::OperatorKind::kReduceScatter},
    {"FSDP::root_post_backward", step::OperatorKind::kReduceScatter},
    {"FSDP::", step::OperatorKind::kAllGather},
    {"fsdp::chunk_cat", step::OperatorKind::kReduceScatter},
    {"fsdp::", step::OperatorKind::kAllGather},
    {"c10d::_reduce_scatter", step::OperatorKind::kReduceScatter},
    {"c10d::reduce_scatter", step::OperatorKind::kReduceScatter},
    {"_c10d_functional::all_gather", step::OperatorKind::kAllGather},
    {"_c10d_functional::reduce_scatter", step::OperatorKind::kReduceScatter},
    {"_c10d_functional::", step::OperatorKind::kAllReduce},
    {"c10d::_allgather", step::OperatorKind::kAllGather},
    {"c10d::allgather", step::OperatorKind::kAllGather},
    {"c10d::", step::OperatorKind::kAllReduce},
    {"scaled_dot_product", step::OperatorKind::kAttention},
    {"linear", step::OperatorKind::kLinear},
    {"aten::mm", step::OperatorKind::kLinear},
    {"aten::addmm", step::OperatorKind::kLinear},
    {"aten::embedding", step::OperatorKind::kEmbedding},
    {"cross_entropy", step::OperatorKind::kLossLocal},
    {"log_softmax", step::OperatorKind::kLossLocal},
    {"nll_loss", step::OperatorKind::kLossLocal},
    {"_foreach_norm", step::OperatorKind::kNormSquare},
    {"vector_norm", step::OperatorKind::kNormSquare},
    {"_foreach_mul_", step::OperatorKind::kNormSquare},
});

constexpr auto kActivationParts =
    std::to_array<std::string_view>({"silu", "gelu", "relu", "sigmoid", "tanh"});

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

std::optional<step::OperatorKind> kind_by_sizes(const logs::KinetoOperatorSignature& op,
                                                const TensorWidths& widths) {
  const auto ends_in = [&](const std::set<std::int64_t>& known) {
    return std::ranges::any_of(op.dims, [&](const Sizes& sizes) {
      return sizes.size() >= 2 && known.contains(sizes.back());
    });
  };
  const auto first =
      std::ranges::find_if(op.dims, [](const Sizes& sizes) { return sizes.size() >= 2; });
  if (first == op.dims.end()) return std::nullopt;
  if (ends_in(widths.vocabulary)) return step::OperatorKind::kLossLocal;
  if (first->size() == 4 || widths.head.contains(first->back())) return step::OperatorKind::kRotary;
  if (ends_in(widths.inner)) return step::OperatorKind::kActivation;
  if (!ends_in(widths.hidden)) return std::nullopt;
  const bool sum =
      op.name.starts_with("aten::add") && op.dims.size() >= 2 && op.dims[0] == op.dims[1];
  return sum ? step::OperatorKind::kAdd : step::OperatorKind::kNorm;
}

}  // namespace

TensorWidths tensor_widths_of_program(const step::StepProgram& program,
                                      const model::ModelArchitecture& model) {
  TensorWidths widths{.hidden = {model.hidden},
                      .inner = {model.ffn},
                      .vocabulary = {model.vocabulary},
                      .head = {model.head_dim, model.head_dim / 2}};
  for (const step::OperatorTemplate& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      if (op.kind == step::OperatorKind::kActivation) widths.inner.insert(op.shape.columns);
      if (op.kind == step::OperatorKind::kLossLocal) widths.vocabulary.insert(op.shape.columns);
    }
  }
  return widths;
}

std::optional<HostOperatorKind> recognise_pytorch_operator_kind(
    const logs::KinetoOperatorSignature& op, const TensorWidths& widths) {
  const auto named = std::ranges::find_if(
      kCertainParts, [&](const NamedPart& known) { return has(op.name, known.part); });
  if (named != kCertainParts.end()) return HostOperatorKind{named->kind, true};
  if (std::ranges::any_of(kActivationParts, [&](auto part) { return has(op.name, part); })) {
    return HostOperatorKind{step::OperatorKind::kActivation, false};
  }
  const auto kind = kind_by_sizes(op, widths);
  return kind ? std::optional(HostOperatorKind{*kind, false}) : std::nullopt;
}

std::optional<step::OperatorShape> host_matrix_product_sizes(
    const logs::KinetoOperatorSignature& op) {
  const bool sum = op.name == "aten::addmm";
  if (!sum && op.name != "aten::mm") return std::nullopt;
  const std::size_t left = sum ? 1 : 0;
  if (op.dims.size() < left + 2) return std::nullopt;
  const Sizes& a = op.dims[left];
  const Sizes& b = op.dims[left + 1];
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0] || a[0] < 1 || a[1] < 1 || b[1] < 1) {
    return std::nullopt;
  }
  return step::OperatorShape{.rows = a[0], .columns = b[1], .inner = a[1]};
}

}  // namespace stepwright::fit
