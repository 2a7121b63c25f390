// Norms of queries and keys in rows of queries, keys and values: over each head, or over all query
// (or key) heads together, whose sums tensor ranks share.
#include <array>
#include <string_view>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// The columns of queries, or of keys, and the runs that are normed together.
struct HeadRun {
  std::string_view name;
  std::int64_t index;   ///< 0: queries, 1: keys.
  std::int64_t first;   ///< Index of their first column.
  std::int64_t groups;  ///< Runs of `width` elements in a row, each normed by itself.
  std::int64_t width;   ///< Elements of a run on this rank.
  std::int64_t whole;   ///< Elements of a run on all tensor ranks.

  [[nodiscard]] at::Tensor of(const at::Tensor& rows) const {
    return rows.narrow(1, first, groups * width).view({rows.size(0), groups, width});
  }
};

std::array<HeadRun, 2> head_runs(const KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const std::int64_t dim = s.model->head_dim;
  const bool whole = s.model->qk_norm == model::QkNorm::kWhole;
  const auto run = [&](std::string_view name, std::int64_t index, std::int64_t heads,
                       std::int64_t all_heads) {
    return HeadRun{.name = name,
                   .index = index,
                   .first = index * s.heads() * dim,
                   .groups = whole ? 1 : heads,
                   .width = whole ? heads * dim : dim,
                   .whole = whole ? all_heads * dim : dim};
  };
  return {run("attention.q_norm", 0, s.heads(), s.model->heads),
          run("attention.k_norm", 1, s.kv_heads(), s.model->kv_heads)};
}

bool is_layered(const KernelCall& call) {
  return call.rank.setting.model->norm == model::Norm::kLayer;
}

/// Returns how many sums of each run tensor ranks share: one of squares; for a LayerNorm over all
/// heads, first one of values.
std::int64_t shared_numbers(const KernelCall& call) {
  return call.rank.setting.model->qk_norm == model::QkNorm::kWhole && is_layered(call) ? 2 : 1;
}

at::Tensor values(const KernelCall& call, const HeadRun& run, const at::Tensor& rows) {
  return run.of(rows).to(call.data_type_of_statistics());
}

/// Returns a weight or bias in a shape that broadcasts to [rows, groups, width].
at::Tensor shaped(const KernelCall& call, const HeadRun& run, const at::Tensor& parameter) {
  return parameter.to(call.data_type_of_statistics()).view({-1, run.width});
}

at::Tensor weighted(const KernelCall& call, const HeadRun& run, const at::Tensor& x) {
  const at::Tensor weight = call.operator_weight(run.name);
  if (!weight.defined()) return x;
  const at::Tensor factor = shaped(call, run, weight);
  return x * (call.rank.setting.model->norm_unit_offset ? factor + 1 : factor);
}

/// Returns the mean over a run: of `each`, or from the sums of all ranks in operand `place`;
/// `from_last`: 0 for the last sum of the run, 1 for the one before.
at::Tensor mean(const KernelCall& call, const HeadRun& run, const at::Tensor& each,
                std::size_t place, std::int64_t from_last = 0) {
  const std::int64_t count = shared_numbers(call);
  const std::int64_t column = (run.index + 1) * count - 1 - from_last;
  const at::Tensor sums = call.has_operand(place)
                              ? call.read_operand(place).narrow(1, column, 1).unsqueeze(-1)
                              : each.sum(-1, true);
  return sums / static_cast<double>(run.whole);
}

/// Adds to a parameter's gradient: sums `each` over rows, and over heads where these share the
/// parameter.
void add_gradient(const KernelCall& call, std::string_view name, const at::Tensor& each) {
  const at::Tensor gradient = call.gradient(name);
  if (!gradient.defined()) return;
  const at::Tensor sum = each.sum(0);
  accumulate_gradient(gradient, gradient.numel() == sum.numel() ? sum : sum.sum(0));
}

}  // namespace

/// Writes the sums of values and of their products with the normed elements; in the backward, the
/// values are gradients.
void head_sums(KernelCall& call) {
  std::vector<at::Tensor> sums;
  const bool backward = call.op.phase == step::Phase::kDataGradient;
  for (const HeadRun& run : head_runs(call)) {
    const at::Tensor x = values(call, run, call.read_operand(backward ? 1 : 0));
    const at::Tensor other =
        backward ? weighted(call, run, values(call, run, call.read_operand(0))) : x;
    if (shared_numbers(call) == 2) sums.push_back(other.sum(-1));
    sums.push_back((x * other).sum(-1));
  }
  call.write_result(0, at::cat(sums, 1));
}

void head_norm_forward(KernelCall& call) {
  const at::Tensor& rows = call.read_operand(0);
  at::Tensor out = rows.clone();
  std::vector<at::Tensor> statistics;
  for (const HeadRun& run : head_runs(call)) {
    at::Tensor x = values(call, run, rows);
    at::Tensor centre;
    if (is_layered(call)) {
      centre = mean(call, run, x, 1, 1);
      x = x - centre;
    }
    at::Tensor square = mean(call, run, x.square(), 1);
    if (call.has_operand(1) && centre.defined()) square = square - centre.square();
    const at::Tensor scale = at::rsqrt(square + call.rank.setting.model->norm_epsilon);
    at::Tensor y = weighted(call, run, x * scale);
    const at::Tensor bias = call.operator_weight(model::bias_name(run.name));
    if (bias.defined()) y = y + shaped(call, run, bias);
    run.of(out).copy_(y);
    if (shared_numbers(call) == 2) statistics.push_back(centre.squeeze(-1));
    statistics.push_back(scale.squeeze(-1));
  }
  call.write_result(0, std::move(out));
  call.write_result(1, at::cat(statistics, 1));
}

/// Operands: the gradient, the rows, the statistics, and the shared sums where there are any.
void head_norm_backward(KernelCall& call) {
  const at::Tensor& d_rows = call.read_operand(0);
  const std::int64_t count = shared_numbers(call);
  std::int64_t first = 0;
  for (const HeadRun& run : head_runs(call)) {
    const at::Tensor all = call.read_operand(2).narrow(1, first, run.groups * count);
    first += run.groups * count;
    const at::Tensor scale = (count == 2 ? all.narrow(1, 1, 1) : all).unsqueeze(-1);
    at::Tensor x = values(call, run, call.read_operand(1));
    const at::Tensor dy = values(call, run, d_rows);
    const at::Tensor d_unit = weighted(call, run, dy);
    at::Tensor along = mean(call, run, d_unit * x, 3);
    at::Tensor d = d_unit;
    if (is_layered(call)) {
      const at::Tensor centre = count == 2 ? all.narrow(1, 0, 1).unsqueeze(-1) : x.mean(-1, true);
      const at::Tensor d_mean = mean(call, run, d_unit, 3, 1);
      x = x - centre;
      along = along - centre * d_mean;
      d = d_unit - d_mean;
    }
    add_gradient(call, run.name, dy * x * scale);
    add_gradient(call, model::bias_name(run.name), dy);
    run.of(d_rows).copy_((d - x * along * scale.square()) * scale);
  }
  call.write_result(0, d_rows);
}

}  // namespace stepwright::runtime
