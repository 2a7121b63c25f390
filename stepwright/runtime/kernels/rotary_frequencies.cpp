#include "stepwright/runtime/kernels/rotary_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepwright::runtime {
namespace {

/// Returns the share of a frequency that llama3 scaling keeps, by how often it turns within the
/// positions of the original training.
double llama3_kept(double frequency, const model::RotaryScaling& scaling) {
  const double turns =
      static_cast<double>(scaling.original_positions) * frequency / (2 * std::numbers::pi);
  return std::clamp(
      (turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency), 0.0, 1.0);
}

/// Returns the (fractional) number of the pair that turns `turns` times within the positions of the
/// original training.
double pair_of(double turns, const model::ModelArchitecture& model) {
  const auto original = static_cast<double>(model.rotary_scaling->original_positions);
  return static_cast<double>(model.rotated_pairs_per_head()) *
         std::log(original / (turns * 2 * std::numbers::pi)) / std::log(model.rotary_base);
}

/// Returns the share of a pair's frequency that YaRN keeps: `find_correction_range` and
/// `linear_ramp_factor` of huggingface/transformers modeling_rope_utils.py.
double yarn_kept(std::int64_t pair, const model::ModelArchitecture& model) {
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  double low = pair_of(scaling.high_frequency, model);
  double high = pair_of(scaling.low_frequency, model);
  if (scaling.rounded) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(2 * model.rotated_pairs_per_head() - 1));
  if (low == high) high += 0.001;
  return 1 - std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
}

double scaled(double frequency, std::int64_t pair, const model::ModelArchitecture& model,
              std::int64_t length) {
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  switch (scaling.kind) {
    case model::RotaryScalingKind::kLinear: return frequency / scaling.factor;
    case model::RotaryScalingKind::kLlama3: {
      const double kept = llama3_kept(frequency, scaling);
      return frequency * ((1 - kept) / scaling.factor + kept);
    }
    case model::RotaryScalingKind::kYarn: {
      const double kept = yarn_kept(pair, model);
      return frequency * ((1 - kept) / scaling.factor + kept);
    }
    case model::RotaryScalingKind::kLongRope: {
      const auto& factors =
          length > scaling.original_positions ? scaling.long_factors : scaling.short_factors;
      return frequency / factors.at(static_cast<std::size_t>(pair));
    }
    default: return frequency;
  }
}

/// Returns YaRN's factor `get_mscale` of `_compute_yarn_parameters` in transformers.
double mscale_of(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

/// Returns the rotary base; for sequences longer than those that the model states it grows with the
/// length (huggingface/transformers modeling_rope_utils.py, `_compute_dynamic_ntk_parameters`).
double base_of(const model::ModelArchitecture& model, std::int64_t length) {
  const auto& scaling = model.rotary_scaling;
  const bool grows = scaling && scaling->kind == model::RotaryScalingKind::kDynamic &&
                     model.positions > 0 && length > model.positions;
  const auto turned = static_cast<double>(2 * model.rotated_pairs_per_head());
  if (!grows || turned <= 2) return model.rotary_base;
  const double times = static_cast<double>(length) / static_cast<double>(model.positions);
  const double stretch = scaling->factor * times - (scaling->factor - 1);
  return model.rotary_base * std::pow(stretch, turned / (turned - 2));
}

}  // namespace

std::vector<double> rotary_frequencies(const model::ModelArchitecture& model,
                                       const model::LayerClass& layer, std::int64_t length) {
  const bool own_base = layer.window > 0 && model.window_rotary_base > 0;
  const double base = own_base ? model.window_rotary_base : base_of(model, length);
  const std::int64_t pairs = model.rotated_pairs_per_head();
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(pairs);
    const double frequency = std::pow(base, -exponent);
    const bool is_scaled = model.rotary_scaling && !own_base;
    frequencies.push_back(is_scaled ? scaled(frequency, i, model, length) : frequency);
  }
  return frequencies;
}

double rotary_embedding_amplitude(const model::ModelArchitecture& model,
                                  const model::LayerClass& layer) {
  const bool own_base = layer.window > 0 && model.window_rotary_base > 0;
  if (!model.rotary_scaling || own_base) return 1;
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  if (scaling.kind == model::RotaryScalingKind::kYarn) {
    if (scaling.attention_factor > 0) return scaling.attention_factor;
    return mscale_of(scaling.factor, scaling.mscale) /
           mscale_of(scaling.factor, scaling.mscale_all_dim);
  }
  if (scaling.kind != model::RotaryScalingKind::kLongRope) return 1;
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  const auto original = static_cast<double>(scaling.original_positions);
  return scaling.factor <= 1 ? 1 : std::sqrt(1 + std::log(scaling.factor) / std::log(original));
}

double attention_score_scale(const model::ModelArchitecture& model) {
  if (model.attention_scale > 0) return model.attention_scale;
  double stretch = 1;
  if (model.latent && model.position == model::PositionEncoding::kRope && model.rotary_scaling) {
    const model::RotaryScaling& scaling = *model.rotary_scaling;
    stretch = mscale_of(scaling.factor, scaling.mscale_all_dim);
  }
  return stretch * stretch / std::sqrt(static_cast<double>(model.head_dim));
}

}  // namespace stepwright::runtime
