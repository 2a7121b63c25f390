#include "stepwright/runtime/kernels/rotary_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepwright {
namespace {

double scaled(double frequency, const RotaryScaling& scaling) {
  if (scaling.kind == RotaryScalingKind::kLinear) return frequency / scaling.factor;
  if (scaling.kind != RotaryScalingKind::kLlama3) return frequency;
  const double turns =
      static_cast<double>(scaling.original_positions) * frequency / (2 * std::numbers::pi);
  const double kept = std::clamp(
      (turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency), 0.0, 1.0);
  return frequency * ((1 - kept) / scaling.factor + kept);
}

/// The base of sequences longer than those that the model states, which grows with them
/// (huggingface/transformers modeling_rope_utils.py, `_compute_dynamic_ntk_parameters`).
double base_of(const Architecture& model, std::int64_t length) {
  const auto& scaling = model.rotary_scaling;
  const bool grows = scaling && scaling->kind == RotaryScalingKind::kDynamic &&
                     model.positions > 0 && length > model.positions;
  const auto turned = static_cast<double>(2 * model.rotary_pairs());
  if (!grows || turned <= 2) return model.rotary_base;
  const double times = static_cast<double>(length) / static_cast<double>(model.positions);
  const double stretch = scaling->factor * times - (scaling->factor - 1);
  return model.rotary_base * std::pow(stretch, turned / (turned - 2));
}

}  // namespace

std::vector<double> rotary_frequencies(const Architecture& model, const LayerClass& layer,
                                       std::int64_t length) {
  const bool own_base = layer.window > 0 && model.window_rotary_base > 0;
  const double base = own_base ? model.window_rotary_base : base_of(model, length);
  const std::int64_t pairs = model.rotary_pairs();
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(pairs);
    const double frequency = std::pow(base, -exponent);
    const bool is_scaled = model.rotary_scaling && !own_base;
    frequencies.push_back(is_scaled ? scaled(frequency, *model.rotary_scaling) : frequency);
  }
  return frequencies;
}

}  // namespace stepwright
