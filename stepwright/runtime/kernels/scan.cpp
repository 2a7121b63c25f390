// Kernels of the scans of mixers with a state (the gated delta rule, Mamba-2 and Mamba), as
// transformers computes them (models/qwen3_next `torch_recurrent_gated_delta_rule`, models/mamba2
// and models/mamba `torch_forward`), each as one recurrence.
#include <cmath>

#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/mixer_parts.h"
#include "stepwright/runtime/kernels/recurrence.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kStepBias = "mixer.step_bias";
constexpr std::string_view kDecay = "mixer.decay";
constexpr std::string_view kSkip = "mixer.skip";

/// Added to the sum of squares of keys and queries of a delta rule.
constexpr double kUnitEpsilon = 1e-6;

/// Rows that a scan reads: convolved rows, rows of the first projection and, for Mamba, step sizes
/// and selected values.
struct Rows {
  at::Tensor convolved;
  at::Tensor in;
  at::Tensor steps;
  at::Tensor selected;
};

/// Gradients in the shapes of `Rows`; undefined where there is none.
struct RowGradients {
  at::Tensor convolved;
  at::Tensor scalars;  ///< Gradient of the last columns of the first projection.
  at::Tensor steps;
  at::Tensor selected;
};

/// Rows scaled to unit length, and the scale.
struct Unit {
  at::Tensor rows;
  at::Tensor scale;
};

Unit unit(const at::Tensor& x) {
  const at::Tensor scale = at::rsqrt(x.square().sum(-1, true) + kUnitEpsilon);
  return {x * scale, scale};
}

at::Tensor unit_backward(const at::Tensor& d, const Unit& made) {
  return (d - made.rows * (d * made.rows).sum(-1, true)) * made.scale;
}

/// Returns keys or queries of each head, repeated from its group's; the function below sums them
/// back.
at::Tensor of_all_heads(const at::Tensor& groups, std::int64_t heads) {
  return groups.repeat_interleave(heads / groups.size(2), 2);
}

at::Tensor of_groups(const at::Tensor& heads, std::int64_t groups) {
  return heads.unflatten(2, {groups, -1}).sum(3);
}

at::Tensor sum_of_tokens(const at::Tensor& each) { return each.sum(at::IntArrayRef{0, 1}); }

/// A step size or decay strength: the softplus of a number plus a bias.
struct Soft {
  at::Tensor sum;
  at::Tensor value;
};

Soft soft(const at::Tensor& x, const at::Tensor& bias) {
  const at::Tensor sum = x + bias;
  return {sum, at::softplus(sum)};
}

at::Tensor soft_backward(const at::Tensor& d, const Soft& made) { return d * made.sum.sigmoid(); }

class DeltaScan {
 public:
  DeltaScan(const KernelCall& call, const MixerLayerSizes& parts, const Rows& rows)
      : call_(call), parts_(parts), rows_(rows) {
    const std::int64_t k = parts.keys();
    query_ = unit(split_columns_by_head(call, rows.convolved, 0, k, parts.groups));
    key_ = unit(split_columns_by_head(call, rows.convolved, k, k, parts.groups));
    const std::int64_t at = parts.head_scalars_first_column();
    strength_ =
        split_columns_by_head(call, rows.in, at, parts.heads, parts.heads).squeeze(-1).sigmoid();
    soft_ = soft(split_columns_by_head(call, rows.in, at + parts.heads, parts.heads, parts.heads)
                     .squeeze(-1),
                 parameter_part_on_this_rank(call, parts, kStepBias, {parts.heads}).flatten());
    rate_ = parameter_part_on_this_rank(call, parts, kDecay, {parts.heads}).flatten().exp();
    in_ = {
        .queries = of_all_heads(query_.rows, parts.heads) * scale(),
        .keys = of_all_heads(key_.rows, parts.heads),
        .values = split_columns_by_head(call, rows.convolved, 2 * k, parts.values(), parts.heads),
        .strengths = strength_,
        .decays = (-rate_ * soft_.value).exp().unsqueeze(-1),
        .corrects = true};
  }

  [[nodiscard]] at::Tensor out() const { return run_linear_recurrence(in_); }

  [[nodiscard]] RowGradients backward(const at::Tensor& dy) const {
    const LinearRecurrenceInputs d = linear_recurrence_gradients(in_, dy);
    const at::Tensor d_query = unit_backward(of_groups(d.queries, parts_.groups) * scale(), query_);
    const at::Tensor d_key = unit_backward(of_groups(d.keys, parts_.groups), key_);
    const at::Tensor d_exponent = (d.decays * in_.decays).squeeze(-1);
    const at::Tensor d_sum = soft_backward(-rate_ * d_exponent, soft_);
    add_to_rank_gradient(call_, parts_, kStepBias, {parts_.heads}, sum_of_tokens(d_sum));
    add_to_rank_gradient(call_, parts_, kDecay, {parts_.heads},
                         sum_of_tokens(-rate_ * soft_.value * d_exponent));
    const at::Tensor d_strength = d.strengths * strength_ * (1 - strength_);
    return {
        .convolved = at::cat({as_rows(d_query, rows_.convolved), as_rows(d_key, rows_.convolved),
                              as_rows(d.values, rows_.convolved)},
                             1),
        .scalars = at::cat({as_rows(d_strength, rows_.in), as_rows(d_sum, rows_.in)}, 1)};
  }

 private:
  [[nodiscard]] double scale() const { return 1 / std::sqrt(static_cast<double>(parts_.state)); }

  const KernelCall& call_;
  const MixerLayerSizes& parts_;
  const Rows& rows_;
  Unit query_, key_;
  at::Tensor strength_, rate_;
  Soft soft_;
  LinearRecurrenceInputs in_;
};

/// The scans of Mamba-2, whose heads have a decay each, and of Mamba, whose channels have one decay
/// for each element of the state and step sizes of their own.
class MambaScan {
 public:
  MambaScan(const KernelCall& call, const MixerLayerSizes& parts, const Rows& rows)
      : call_(call), parts_(parts), rows_(rows), selects_(parts.kind == model::TokenMixer::kMamba) {
    const std::int64_t n = parts.keys();
    const at::Tensor& from = selects_ ? rows.selected : rows.convolved;
    keys_at_ = selects_ ? from.size(1) - 2 * n : parts.values();
    const at::Tensor steps =
        selects_ ? split_columns_by_head(call, rows.steps, 0, parts.heads, parts.heads)
                 : split_columns_by_head(call, rows.in, parts.head_scalars_first_column(),
                                         parts.heads, parts.heads);
    const at::Tensor bias =
        parameter_part_on_this_rank(call, parts, kStepBias, {parts.heads}).flatten();
    // A projection of step sizes has already added its bias.
    soft_ = soft(steps.squeeze(-1), selects_ ? at::zeros_like(bias) : bias);
    rate_ = parameter_part_on_this_rank(call, parts, kDecay, {parts.heads})
                .view({parts.heads, -1})
                .exp();
    skip_ = parameter_part_on_this_rank(call, parts, kSkip, {parts.heads}).view({parts.heads, 1});
    in_ = {.queries = of_all_heads(split_columns_by_head(call, from, keys_at_ + n, n, parts.groups),
                                   parts.heads),
           .keys = of_all_heads(split_columns_by_head(call, from, keys_at_, n, parts.groups),
                                parts.heads),
           .values = split_columns_by_head(call, rows.convolved, 0, parts.values(), parts.heads),
           .strengths = soft_.value,
           .decays = (-rate_ * soft_.value.unsqueeze(-1)).exp()};
  }

  [[nodiscard]] at::Tensor out() const { return run_linear_recurrence(in_) + in_.values * skip_; }

  [[nodiscard]] RowGradients backward(const at::Tensor& dy) const {
    const LinearRecurrenceInputs d = linear_recurrence_gradients(in_, dy);
    const at::Tensor d_exponent = d.decays * in_.decays;
    const at::Tensor d_soft = d.strengths - (d_exponent * rate_).sum(-1);
    const at::Tensor d_steps = soft_backward(d_soft, soft_);
    const at::Tensor d_values = d.values + dy * skip_;
    add_to_rank_gradient(call_, parts_, kSkip, {parts_.heads},
                         sum_of_tokens((dy * in_.values).sum(-1)));
    const at::Tensor d_rate = sum_of_tokens(-d_exponent * soft_.value.unsqueeze(-1)) * rate_;
    add_to_rank_gradient(call_, parts_, kDecay, {parts_.heads},
                         d_rate.size(1) == 1 ? d_rate.squeeze(1) : d_rate);
    const at::Tensor keys = as_rows(of_groups(d.keys, parts_.groups), rows_.convolved);
    const at::Tensor queries = as_rows(of_groups(d.queries, parts_.groups), rows_.convolved);
    const at::Tensor values = as_rows(d_values, rows_.convolved);
    if (!selects_) {
      add_to_rank_gradient(call_, parts_, kStepBias, {parts_.heads}, sum_of_tokens(d_steps));
      return {.convolved = at::cat({values, keys, queries}, 1),
              .scalars = as_rows(d_steps, rows_.in)};
    }
    const at::Tensor low = at::zeros({keys.size(0), keys_at_}, keys.options());
    return {.convolved = values,
            .steps = as_rows(d_steps, rows_.in),
            .selected = at::cat({low, keys, queries}, 1)};
  }

 private:
  const KernelCall& call_;
  const MixerLayerSizes& parts_;
  const Rows& rows_;
  bool selects_;
  std::int64_t keys_at_ = 0;
  at::Tensor rate_, skip_;
  Soft soft_;
  LinearRecurrenceInputs in_;
};

Rows rows_of(const KernelCall& call, std::size_t first) {
  const bool selects = call.op.purpose == step::OperatorPurpose::kMambaScan;
  return {.convolved = call.read_operand(first),
          .in = call.read_operand(first + 1),
          .steps = selects ? call.read_operand(first + 2) : at::Tensor(),
          .selected = selects ? call.read_operand(first + 3) : at::Tensor()};
}

}  // namespace

void scan_forward(KernelCall& call) {
  const MixerLayerSizes parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind());
  const Rows rows = rows_of(call, 0);
  const at::Tensor out = parts.kind == model::TokenMixer::kDeltaNet
                             ? DeltaScan(call, parts, rows).out()
                             : MambaScan(call, parts, rows).out();
  call.write_result(0, as_rows(out, rows.convolved));
}

/// Operands: the gradient of the result, the rows, and the gradient of the first projection's rows,
/// into whose last columns the scan's part is written.
void scan_backward(KernelCall& call) {
  const MixerLayerSizes parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind());
  const Rows rows = rows_of(call, 1);
  const at::Tensor dy =
      split_columns_by_head(call, call.read_operand(0), 0, parts.values(), parts.heads);
  RowGradients d = parts.kind == model::TokenMixer::kDeltaNet
                       ? DeltaScan(call, parts, rows).backward(dy)
                       : MambaScan(call, parts, rows).backward(dy);
  at::Tensor d_in = call.read_operand(call.reads.size() - 1);
  if (d.scalars.defined()) {
    d_in.narrow(1, parts.head_scalars_first_column(), d.scalars.size(1)).copy_(d.scalars);
  }
  call.write_result(0, std::move(d.convolved));
  call.write_result(1, std::move(d_in));
  if (!d.steps.defined()) return;
  call.write_result(2, std::move(d.steps));
  call.write_result(3, std::move(d.selected));
}

}  // namespace stepwright::runtime
