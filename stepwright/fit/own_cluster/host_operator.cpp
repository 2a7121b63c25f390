#include "stepwright/fit/own_cluster/host_operator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stepwright {
namespace {

using Sizes = std::vector<std::int64_t>;

struct NamedPart {
  std::string_view part;
  OperatorKind kind;
};

/// Parts of names that say it, the more special ones first. Hooks of FSDP and its copies of
/// parameters and gradients into and out of messages are of those; DDP's out of its buckets are
/// sums of gradients.
constexpr auto kCertainParts = std::to_array<NamedPart>({
    {"AccumulateGrad", OperatorKind::kAccumulate},
    {"ddp.reducer", OperatorKind::kAccumulate},
    {"FSDP::post_backward", OperatorKind::kReduceScatter},
    {"FSDP::root_post_backward", OperatorKind::kReduceScatter},
    {"FSDP::", OperatorKind::kAllGather},
    {"fsdp::chunk_cat", OperatorKind::kReduceScatter},
    {"fsdp::", OperatorKind::kAllGather},
    {"c10d::_reduce_scatter", OperatorKind::kReduceScatter},
    {"c10d::reduce_scatter", OperatorKind::kReduceScatter},
    {"_c10d_functional::all_gather", OperatorKind::kAllGather},
    {"_c10d_functional::reduce_scatter", OperatorKind::kReduceScatter},
    {"_c10d_functional::", OperatorKind::kAllReduce},
    {"c10d::_allgather", OperatorKind::kAllGather},
    {"c10d::allgather", OperatorKind::kAllGather},
    {"c10d::", OperatorKind::kAllReduce},
    {"scaled_dot_product", OperatorKind::kAttention},
    {"linear", OperatorKind::kLinear},
    {"aten::mm", OperatorKind::kLinear},
    {"aten::addmm", OperatorKind::kLinear},
    {"aten::embedding", OperatorKind::kEmbedding},
    {"cross_entropy", OperatorKind::kLossLocal},
    {"log_softmax", OperatorKind::kLossLocal},
    {"nll_loss", OperatorKind::kLossLocal},
    {"_foreach_norm", OperatorKind::kNormSquare},
    {"vector_norm", OperatorKind::kNormSquare},
    {"_foreach_mul_", OperatorKind::kNormSquare},
});

constexpr auto kActivationParts =
    std::to_array<std::string_view>({"silu", "gelu", "relu", "sigmoid", "tanh"});

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

std::optional<OperatorKind> kind_by_sizes(const KinetoSignature& op, const ModelWidths& widths) {
  const auto ends_in = [&](const std::set<std::int64_t>& known) {
    return std::ranges::any_of(op.dims, [&](const Sizes& sizes) {
      return sizes.size() >= 2 && known.contains(sizes.back());
    });
  };
  const auto first =
      std::ranges::find_if(op.dims, [](const Sizes& sizes) { return sizes.size() >= 2; });
  if (first == op.dims.end()) return std::nullopt;
  if (ends_in(widths.vocabulary)) return OperatorKind::kLossLocal;
  if (first->size() == 4 || widths.head.contains(first->back())) return OperatorKind::kRotary;
  if (ends_in(widths.inner)) return OperatorKind::kActivation;
  if (!ends_in(widths.hidden)) return std::nullopt;
  const bool sum =
      op.name.starts_with("aten::add") && op.dims.size() >= 2 && op.dims[0] == op.dims[1];
  return sum ? OperatorKind::kAdd : OperatorKind::kNorm;
}

}  // namespace

ModelWidths widths_of(const StepProgram& program, const Architecture& model) {
  ModelWidths widths{.hidden = {model.hidden},
                     .inner = {model.ffn},
                     .vocabulary = {model.vocabulary},
                     .head = {model.head_dim, model.head_dim / 2}};
  for (const Template& piece : program.templates) {
    for (const Operator& op : piece.operators) {
      if (op.kind == OperatorKind::kActivation) widths.inner.insert(op.shape.columns);
      if (op.kind == OperatorKind::kLossLocal) widths.vocabulary.insert(op.shape.columns);
    }
  }
  return widths;
}

std::optional<HostOperator> host_operator(const KinetoSignature& op, const ModelWidths& widths) {
  const auto named = std::ranges::find_if(
      kCertainParts, [&](const NamedPart& known) { return has(op.name, known.part); });
  if (named != kCertainParts.end()) return HostOperator{named->kind, true};
  if (std::ranges::any_of(kActivationParts, [&](auto part) { return has(op.name, part); })) {
    return HostOperator{OperatorKind::kActivation, false};
  }
  const auto kind = kind_by_sizes(op, widths);
  return kind ? std::optional(HostOperator{*kind, false}) : std::nullopt;
}

std::optional<Shape> host_product(const KinetoSignature& op) {
  const bool sum = op.name == "aten::addmm";
  if (!sum && op.name != "aten::mm") return std::nullopt;
  const std::size_t left = sum ? 1 : 0;
  if (op.dims.size() < left + 2) return std::nullopt;
  const Sizes& a = op.dims[left];
  const Sizes& b = op.dims[left + 1];
  if (a.size() != 2 || b.size() != 2 || a[1] != b[0] || a[0] < 1 || a[1] < 1 || b[1] < 1) {
    return std::nullopt;
  }
  return Shape{.rows = a[0], .columns = b[1], .inner = a[1]};
}

}  // namespace stepwright
