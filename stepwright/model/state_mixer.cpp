#include "stepwright/model/state_mixer.h"

namespace stepwright::model {
namespace {

using Parameters = std::vector<ModelParameter>;

/// FLOPs per element of Mamba's state and token: the exponential of the decay, its product with the
/// state, input times step size and B, the sum, and the product with C (mamba_ssm,
/// selective_scan_fwd_kernel.cuh).
constexpr double kScanStepFlops = 9;

ModelParameter projection(std::string_view name, std::int64_t rows, std::int64_t columns,
                          TensorParallelSplit split) {
  return {.name = name, .rows = rows, .columns = columns, .split = split};
}

/// Returns a parameter with one number, or `each` numbers, for each head or channel.
ModelParameter for_heads(std::string_view name, std::int64_t rows, ParameterInitialization start,
                         std::int64_t each = 1) {
  return {.name = name,
          .rows = rows,
          .columns = each,
          .split = TensorParallelSplit::kColumn,
          .vector = true,
          .start = start};
}

ModelParameter mixer_input(const ModelArchitecture& model, TokenMixer kind) {
  const RecurrentMixer& m = *model.state_mixer;
  const std::int64_t values = m.heads * m.head_dim;
  const std::int64_t keys = m.groups * m.state;
  ModelParameter in =
      projection("mixer.in", state_widths(m, kind).in, model.hidden, TensorParallelSplit::kColumn);
  switch (kind) {
    case TokenMixer::kDeltaNet: in.fused = {keys, keys, values, values, m.heads, m.heads}; break;
    case TokenMixer::kMamba2: in.fused = {values, values, keys, keys, m.heads}; break;
    case TokenMixer::kMamba: in.fused = {values, values}; break;
    default: in.fused = {values, values, values};
  }
  return in;
}

void add_convolution(Parameters& list, const RecurrentMixer& m, TokenMixer kind) {
  const std::int64_t keys = m.groups * m.state;
  const std::int64_t values = m.heads * m.head_dim;
  list.push_back(for_heads("mixer.convolution", state_widths(m, kind).convolution,
                           ParameterInitialization::kNormal, m.kernel));
  if (kind == TokenMixer::kDeltaNet) list.back().fused = {keys, keys, values};
  if (kind == TokenMixer::kMamba2) list.back().fused = {values, keys, keys};
  if (!m.convolution_bias) return;
  const auto fused = list.back().fused;
  list.push_back(for_heads("mixer.convolution_bias", state_widths(m, kind).convolution,
                           ParameterInitialization::kZeros));
  list.back().fused = fused;
}

/// Adds the projection from the convolution's result to Mamba's step sizes, B and C.
void add_selection(Parameters& list, const RecurrentMixer& m) {
  list.push_back(
      projection("mixer.select", m.step_rank + 2 * m.state, m.heads, TensorParallelSplit::kRow));
  if (m.selection_normed) {
    list.push_back({.name = "mixer.select_norm",
                    .rows = m.step_rank + 2 * m.state,
                    .vector = true,
                    .per_head = true,
                    .start = ParameterInitialization::kOnes,
                    .fused = {m.step_rank, m.state, m.state}});
  }
  list.push_back(projection("mixer.step", m.heads, m.step_rank, TensorParallelSplit::kColumn));
}

void add_scan(Parameters& list, const RecurrentMixer& m, TokenMixer kind) {
  if (kind == TokenMixer::kMamba) add_selection(list, m);
  list.push_back(for_heads("mixer.step_bias", m.heads, ParameterInitialization::kZeros));
  list.push_back(for_heads("mixer.decay", m.heads, ParameterInitialization::kZeros,
                           kind == TokenMixer::kMamba ? m.state : 1));
  if (kind != TokenMixer::kDeltaNet)
    list.push_back(for_heads("mixer.skip", m.heads, ParameterInitialization::kOnes));
  if (!m.normed) return;
  if (kind == TokenMixer::kMamba2) {
    list.push_back(for_heads("mixer.norm", m.heads * m.head_dim, ParameterInitialization::kOnes));
  } else {
    list.push_back({.name = "mixer.norm",
                    .rows = m.head_dim,
                    .vector = true,
                    .per_head = true,
                    .start = ParameterInitialization::kOnes});
  }
}

}  // namespace

RecurrentMixerWidths state_widths(const RecurrentMixer& m, TokenMixer kind) {
  const std::int64_t values = m.heads * m.head_dim;
  const std::int64_t keys = m.groups * m.state;
  switch (kind) {
    case TokenMixer::kDeltaNet:
      return {2 * keys + 2 * values + 2 * m.heads, 2 * keys + values, 2 * m.heads, values};
    case TokenMixer::kMamba2:
      return {2 * keys + 2 * values + m.heads, 2 * keys + values, m.heads, values};
    case TokenMixer::kMamba: return {2 * values, values, 0, values};
    case TokenMixer::kShortConvolution: return {3 * values, values, 0, values};
    default: return {};
  }
}

std::vector<ModelParameter> recurrent_mixer_parameters(const ModelArchitecture& model,
                                                       TokenMixer kind) {
  const RecurrentMixer& m = *model.state_mixer;
  Parameters list = {mixer_input(model, kind)};
  if (m.bias) {
    list.push_back(for_heads("mixer.in_bias", list.front().rows, ParameterInitialization::kZeros));
    list.back().fused = list.front().fused;
  }
  add_convolution(list, m, kind);
  if (kind != TokenMixer::kShortConvolution) add_scan(list, m, kind);
  list.push_back(
      projection("mixer.out", model.hidden, state_widths(m, kind).out, TensorParallelSplit::kRow));
  list.back().start = ParameterInitialization::kResidual;
  if (m.bias) {
    list.push_back({.name = "mixer.out_bias",
                    .rows = model.hidden,
                    .vector = true,
                    .start = ParameterInitialization::kZeros});
  }
  return list;
}

double convolution_flops_per_token(const RecurrentMixer& m, TokenMixer kind) {
  return 2.0 * static_cast<double>(state_widths(m, kind).convolution * m.kernel);
}

double recurrent_scan_flops_per_token(const RecurrentMixer& m, TokenMixer kind) {
  const auto heads = static_cast<double>(m.heads);
  const auto state = static_cast<double>(m.state);
  const auto dim = static_cast<double>(m.head_dim);
  const auto chunk = static_cast<double>(m.chunk);
  switch (kind) {
    case TokenMixer::kDeltaNet:
      return 2 * heads * (chunk * (3 * state + 2 * dim) + 3 * state * dim);
    case TokenMixer::kMamba2:
      return 2 * heads * (chunk * dim + 2 * state * dim) +
             2 * static_cast<double>(m.groups) * chunk * state;
    case TokenMixer::kMamba: return kScanStepFlops * heads * state;
    default: return 0;
  }
}

}  // namespace stepwright::model
