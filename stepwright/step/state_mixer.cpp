// Mixers that carry a state along the sequence: a projection, a short causal convolution, a scan,
// gates (normed or not) and a projection back. Before the convolution and after the scan, which
// need whole sequences, context ranks exchange tokens for heads (Megatron-Core,
// ssm/mamba_context_parallel.py).
#include "stepwright/model/state_mixer.h"

#include <algorithm>

#include "stepwright/step/blocks.h"
#include "stepwright/step/scan_purpose.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kSelectNorm{
    KeptTensorRole::kMixerSelection, KeptTensorRole::kMixerSelectionStatistics,
    LayerPart::kMixerSelectNorm, KeptTensorRole::kMixerSelectionCopies, 3};

/// Sizes of a mixer on one rank.
struct Sizes {
  model::RecurrentMixerWidths widths;  ///< Widths on one tensor rank.
  std::int64_t rows = 0;  ///< Rows per rank between the exchanges, where sequences are whole.
  std::int64_t cut = 1;   ///< Divisor of widths between the exchanges, where sequences are whole.
  OperatorShape scan;
};

Sizes sizes(const StepBuildSettings& s, model::TokenMixer kind) {
  const model::RecurrentMixer& m = *s.model->state_mixer;
  const model::RecurrentMixerWidths whole = model::state_widths(m, kind);
  const std::int64_t ranks = s.tensor * s.context;
  return {.widths = {whole.in / s.tensor, whole.convolution / s.tensor, whole.scalars / s.tensor,
                     whole.out / s.tensor},
          .rows = s.tokens * s.context,
          .cut = s.context,
          .scan = {.batch = s.batch,
                   .heads = m.heads / ranks,
                   .kv_heads = std::max<std::int64_t>(1, m.groups / ranks),
                   .queries = s.length,
                   .keys = m.chunk,
                   .head_dim = m.state,
                   .value_dim = m.head_dim}};
}

MatrixProduct in_product(const StepBuildSettings& s, model::TokenMixer kind) {
  return {s.tokens, s.model->hidden, sizes(s, kind).widths.in, LayerPart::kMixerIn};
}

MatrixProduct out_product(const StepBuildSettings& s, model::TokenMixer kind) {
  return {s.tokens, sizes(s, kind).widths.out, s.model->hidden, LayerPart::kMixerOut};
}

/// Product that computes Mamba's selection (low-rank step sizes, B and C) from the convolution's
/// result.
MatrixProduct select_product(const StepBuildSettings& s, model::TokenMixer kind) {
  const model::RecurrentMixer& m = *s.model->state_mixer;
  const Sizes z = sizes(s, kind);
  return {z.rows, z.widths.convolution / z.cut, m.step_rank + 2 * m.state, LayerPart::kMixerSelect};
}

MatrixProduct step_product(const StepBuildSettings& s, model::TokenMixer kind) {
  const Sizes z = sizes(s, kind);
  return {z.rows, s.model->state_mixer->step_rank, z.widths.convolution / z.cut,
          LayerPart::kMixerStep};
}

/// Writes an exchange between context ranks, of tokens for heads or back.
TensorId exchange(ModelBlockBuildContext& e, TensorId from, const ActivationMatrixSize& to_sheet,
                  Phase phase, LayerPart part) {
  if (e.s.context == 1) return from;
  const TensorId to =
      create_message_buffer(e, layer_part_name(part), to_sheet.rows, to_sheet.columns);
  e.out.add({.kind = OperatorKind::kAllToAll,
             .phase = phase,
             .stream = stream_of_messages(e.s, ParallelismScheme::kContext),
             .scheme = ParallelismScheme::kContext,
             .group = plan::CommunicatorKind::kContext,
             .dtype = e.s.storage,
             .payload_elements = to_sheet.rows * to_sheet.columns,
             .part = part},
            {from}, {to});
  return to;
}

/// Writes a sum over tensor ranks, and over context ranks that hold other channels.
void share(ModelBlockBuildContext& e, TensorId partial, Phase phase, LayerPart part) {
  if (e.s.tensor_parallel()) append_all_reduce(e, ParallelismScheme::kTensor, partial, phase, part);
  if (e.s.context > 1) append_all_reduce(e, ParallelismScheme::kContext, partial, phase, part);
}

Operator convolution(const ModelBlockBuildContext& e, Phase phase, model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  Operator op = computation(e, OperatorKind::kConvolution, phase, LayerPart::kMixerConvolution,
                            {.rows = z.rows,
                             .columns = z.widths.convolution / z.cut,
                             .inner = e.s.model->state_mixer->kernel});
  op.parameter = e.out.parameter_of_layer_part(LayerPart::kMixerConvolution);
  return op;
}

Operator scan(const ModelBlockBuildContext& e, Phase phase, model::TokenMixer kind) {
  Operator op =
      computation(e, OperatorKind::kScan, phase, LayerPart::kMixerScan, sizes(e.s, kind).scan);
  op.purpose = scan_purpose_of(kind);
  return op;
}

/// Returns an element-wise product: of two of the three streams of a short convolution, or of a
/// scan's result and its gates.
Operator gate(const ModelBlockBuildContext& e, Phase phase, model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  Operator op = computation(e, OperatorKind::kActivation, phase, LayerPart::kMixerNorm,
                            {.rows = z.rows, .columns = z.widths.out / z.cut});
  op.gated = true;
  op.purpose = OperatorPurpose::kMixerGate;
  op.parameter = e.out.parameter_of_layer_part(LayerPart::kMixerNorm);
  return op;
}

TensorId gated(ModelBlockBuildContext& e, TensorId values, TensorId in, model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const TensorId out = create_activation_tensor(e, "mixer.gated", z.rows, z.widths.out / z.cut);
  TensorId statistics = -1;
  if (e.s.model->state_mixer->normed) {
    statistics = create_activation_tensor(e, "statistics", e.s.exact, z.rows, z.scan.heads);
    e.kept.set(KeptTensorRole::kMixerStatistics, statistics);
  }
  e.out.add(gate(e, e.forward, kind), {values, in, e.parameters}, {out, statistics});
  return out;
}

TensorId convolved(ModelBlockBuildContext& e, TensorId x, model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const TensorId y =
      create_activation_tensor(e, "mixer.convolution", z.rows, z.widths.convolution / z.cut);
  e.out.add(convolution(e, e.forward, kind), {x, e.parameters}, {y});
  e.kept.set(KeptTensorRole::kMixerConvolved, y);
  return y;
}

/// Writes Mamba's step sizes for each channel; -1 for other mixers, which project step sizes
/// directly.
TensorId steps(ModelBlockBuildContext& e, TensorId convolved, model::TokenMixer kind) {
  if (kind != model::TokenMixer::kMamba) return -1;
  const MatrixProduct select = select_product(e.s, kind);
  TensorId selected = append_matrix_product(e, convolved, select);
  share(e, selected, e.forward, LayerPart::kMixerSelect);
  if (e.s.model->state_mixer->selection_normed) {
    selected = norm(e, selected, {select.rows, select.columns}, kSelectNorm);
  }
  e.kept.set(KeptTensorRole::kMixerSelected, selected);
  const TensorId sizes = append_matrix_product(e, selected, step_product(e.s, kind));
  e.kept.set(KeptTensorRole::kMixerSteps, sizes);
  return sizes;
}

TensorId scanned(ModelBlockBuildContext& e, TensorId in, model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const TensorId x = convolved(e, in, kind);
  const TensorId step_sizes = steps(e, x, kind);
  const TensorId y = create_activation_tensor(e, "mixer.scan", z.rows, z.widths.out / z.cut);
  e.out.add(scan(e, e.forward, kind),
            {x, in, step_sizes, e.kept.get(KeptTensorRole::kMixerSelected), e.parameters}, {y});
  e.kept.set(KeptTensorRole::kMixerScanned, y);
  return gated(e, y, in, kind);
}

/// Writes a gated short convolution: its input is the product of two streams, and the third stream
/// gates its output.
TensorId short_convolution(ModelBlockBuildContext& e, TensorId in, model::TokenMixer kind) {
  const TensorId x = gated(e, in, -1, kind);
  e.kept.set(KeptTensorRole::kMixerScanned, x);
  return gated(e, convolved(e, x, kind), in, kind);
}

struct MixerGradients {
  TensorId values = -1;
  /// Gradient of the projection's result; the gradient of the gates is already in it.
  TensorId in = -1;
};

MixerGradients gated_backward(ModelBlockBuildContext& e, TensorId dy, TensorId values, TensorId in,
                              model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const MixerGradients d{create_activation_tensor(e, "gradient", z.rows, z.widths.out / z.cut),
                         create_activation_tensor(e, "gradient", z.rows, z.widths.in / z.cut)};
  e.out.add(
      gate(e, Phase::kDataGradient, kind),
      {dy, values, in, tensor_kept_by_forward(e, KeptTensorRole::kMixerStatistics), e.parameters},
      {d.values, d.in, e.gradients});
  return d;
}

/// Adds the gradients of Mamba's selection to the gradient of the convolution's result.
void steps_backward(ModelBlockBuildContext& e, TensorId d_steps, TensorId d_selected,
                    TensorId d_convolved, model::TokenMixer kind) {
  const MatrixProduct step = step_product(e.s, kind);
  const MatrixProduct select = select_product(e.s, kind);
  const TensorId d_low =
      append_matrix_product_backward(e, d_steps, KeptTensorRole::kMixerSelected, step);
  e.out.add(computation(e, OperatorKind::kAccumulate, Phase::kDataGradient, LayerPart::kMixerStep,
                        {.rows = step.rows, .columns = step.inner}),
            {d_low, d_selected}, {d_selected});
  // The selection is computed from the rank's own channels, and the sum over ranks comes before its
  // norm, whose weights are the same on all ranks.
  if (e.s.model->state_mixer->selection_normed) {
    d_selected = append_norm_backward(e, d_selected, {select.rows, select.columns}, kSelectNorm);
  }
  share(e, d_selected, Phase::kDataGradient, LayerPart::kMixerSelect);
  const TensorId d_x =
      append_matrix_product_backward(e, d_selected, KeptTensorRole::kMixerConvolved, select);
  e.out.add(computation(e, OperatorKind::kAccumulate, Phase::kDataGradient, LayerPart::kMixerSelect,
                        {.rows = select.rows, .columns = select.inner}),
            {d_x, d_convolved}, {d_convolved});
}

TensorId scan_backward(ModelBlockBuildContext& e, TensorId dy, TensorId in, TensorId d_in,
                       model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const TensorId x = tensor_kept_by_forward(e, KeptTensorRole::kMixerConvolved);
  const TensorId step_sizes = tensor_kept_by_forward(e, KeptTensorRole::kMixerSteps);
  const TensorId selected = tensor_kept_by_forward(e, KeptTensorRole::kMixerSelected);
  const TensorId d_x =
      create_activation_tensor(e, "gradient", z.rows, z.widths.convolution / z.cut);
  TensorId d_steps = -1;
  TensorId d_selected = -1;
  if (kind == model::TokenMixer::kMamba) {
    d_steps = create_activation_tensor(e, "gradient", z.rows, step_product(e.s, kind).columns);
    d_selected = create_activation_tensor(e, "gradient", z.rows, select_product(e.s, kind).columns);
  }
  e.out.add(scan(e, Phase::kDataGradient, kind),
            {dy, x, in, step_sizes, selected, d_in, e.parameters},
            {d_x, d_in, d_steps, d_selected, e.gradients});
  if (kind == model::TokenMixer::kMamba) steps_backward(e, d_steps, d_selected, d_x, kind);
  return d_x;
}

}  // namespace

TensorId append_recurrent_mixer_block(ModelBlockBuildContext& e, TensorId normed,
                                      model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const TensorId projected = append_column_parallel_product(
      e, normed, KeptTensorRole::kAttentionLinearInput, in_product(e.s, kind));
  const TensorId in =
      exchange(e, projected, {z.rows, z.widths.in / z.cut}, e.forward, LayerPart::kContextMixerIn);
  e.kept.set(KeptTensorRole::kMixerIn, in);
  const TensorId result = kind == model::TokenMixer::kShortConvolution
                              ? short_convolution(e, in, kind)
                              : scanned(e, in, kind);
  const TensorId out =
      exchange(e, result, {e.s.tokens, z.widths.out}, e.forward, LayerPart::kContextMixerOut);
  return append_matrix_product_keeping_input(e, out, out_product(e.s, kind),
                                             KeptTensorRole::kMixerOut, out);
}

TensorId append_state_mixer_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                           model::TokenMixer kind) {
  const Sizes z = sizes(e.s, kind);
  const MatrixProduct out = out_product(e.s, kind);
  const TensorId d_out = append_matrix_product_backward(e, dy, KeptTensorRole::kMixerOut, out);
  const TensorId d_result = exchange(e, d_out, {z.rows, z.widths.out / z.cut}, Phase::kDataGradient,
                                     LayerPart::kContextMixerOut);
  const bool is_short = kind == model::TokenMixer::kShortConvolution;
  const TensorId in = tensor_kept_by_forward(e, KeptTensorRole::kMixerIn);
  const MixerGradients d =
      gated_backward(e, d_result,
                     tensor_kept_by_forward(e, is_short ? KeptTensorRole::kMixerConvolved
                                                        : KeptTensorRole::kMixerScanned),
                     in, kind);
  const TensorId d_convolved = is_short ? d.values : scan_backward(e, d.values, in, d.in, kind);
  const TensorId d_input =
      is_short ? create_activation_tensor(e, "gradient", z.rows, z.widths.out / z.cut) : -1;
  e.out.add(convolution(e, Phase::kDataGradient, kind),
            {d_convolved, is_short ? tensor_kept_by_forward(e, KeptTensorRole::kMixerScanned) : in,
             d.in, e.parameters},
            {is_short ? d_input : d.in, e.gradients});
  if (is_short) {
    e.out.add(gate(e, Phase::kDataGradient, kind), {d_input, in, d.in}, {d.in});
  }
  const TensorId d_projected = exchange(e, d.in, {e.s.tokens, z.widths.in}, Phase::kDataGradient,
                                        LayerPart::kContextMixerIn);
  return append_column_parallel_product_backward(
      e, d_projected, KeptTensorRole::kAttentionLinearInput, in_product(e.s, kind));
}

}  // namespace stepwright::step
