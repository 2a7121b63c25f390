#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// One key of an inline model (docs/formats.md, "Inline model"): its name, the member of `Holder`
/// that it sets, and the allowed range. Absent: the member's default; if that is below `low`, the
/// key is required.
template <class Holder>
struct ModelKey {
  std::string_view key;
  std::variant<std::int64_t Holder::*, double Holder::*, bool Holder::*> value;
  double low = 1;
  double high = kLargestModelSize;
};

inline constexpr ModelKey<Architecture> kNormKeys[] = {
    {"norm_epsilon", &Architecture::norm_epsilon, 0, 1},
    {"inner_norm_epsilon", &Architecture::inner_norm_epsilon, 0, 1}};
inline constexpr ModelKey<Architecture> kRotaryKeys[] = {
    {"first_position", &Architecture::first_position, 0},
    {"rotary_fraction", &Architecture::rotary_fraction, 0, 1},
    {"rotary_base", &Architecture::rotary_base, 0},
    {"window_rotary_base", &Architecture::window_rotary_base, 0}};
inline constexpr ModelKey<Architecture> kBlockKeys[] = {
    {"head_bias", &Architecture::head_bias},
    {"qk_norm_bias", &Architecture::qk_norm_bias},
    {"attention_gate", &Architecture::attention_gate},
    {"gate_bias", &Architecture::gate_bias},
    {"sinks", &Architecture::sinks},
    {"norm_weight", &Architecture::norm_weight},
    {"norm_unit_offset", &Architecture::norm_unit_offset},
    {"attention_scale", &Architecture::attention_scale, 0},
    {"attention_cap", &Architecture::attention_cap, 0},
    {"logit_cap", &Architecture::logit_cap, 0},
    {"logit_scale", &Architecture::logit_scale, 0},
    {"embedding_scale", &Architecture::embedding_scale, 0},
    {"residual_scale", &Architecture::residual_scale, 0},
    {"embedding_norm", &Architecture::embedding_norm},
    {"parallel_residual", &Architecture::parallel_residual},
    {"shared_input_norm", &Architecture::shared_input_norm}};
inline constexpr ModelKey<Architecture> kMultiTokenKeys[] = {
    {"multi_token_layers", &Architecture::multi_token_layers, 0},
    {"count_multi_token", &Architecture::count_multi_token},
    {"multi_token_weight", &Architecture::multi_token_weight, 0}};
inline constexpr ModelKey<RotaryScaling> kScalingKeys[] = {{"factor", &RotaryScaling::factor, 0}};
/// Which groups of keys a method of rotary scaling has, beside `factor`.
struct RotaryScalingKeyGroups {
  bool turns = false;
  bool original = false;
  bool amplitude = false;
  bool yarn = false;
  bool lists = false;  ///< True if the method has the lists `short_factors` and `long_factors`.
};
constexpr RotaryScalingKeyGroups scaling_parts(RotaryScalingKind kind) {
  switch (kind) {
    case RotaryScalingKind::kLlama3: return {.turns = true, .original = true};
    case RotaryScalingKind::kYarn:
      return {.turns = true, .original = true, .amplitude = true, .yarn = true};
    case RotaryScalingKind::kLongRope: return {.original = true, .amplitude = true, .lists = true};
    default: return {};
  }
}
/// Additional inline-model keys of the rotary scalings llama3 and yarn.
inline constexpr ModelKey<RotaryScaling> kRotaryScalingKeys[] = {
    {"low_frequency", &RotaryScaling::low_frequency, 0},
    {"high_frequency", &RotaryScaling::high_frequency, 0}};
/// Additional inline-model keys of the rotary scalings llama3, yarn and longrope.
inline constexpr ModelKey<RotaryScaling> kOriginalKeys[] = {
    {"original_positions", &RotaryScaling::original_positions}};
/// Additional inline-model keys of the rotary scalings yarn and longrope.
inline constexpr ModelKey<RotaryScaling> kAmplitudeKeys[] = {
    {"attention_factor", &RotaryScaling::attention_factor, 0}};
/// Additional inline-model keys of the rotary scaling yarn alone.
inline constexpr ModelKey<RotaryScaling> kYarnKeys[] = {
    {"rounded", &RotaryScaling::rounded},
    {"mscale", &RotaryScaling::mscale, 0},
    {"mscale_all_dim", &RotaryScaling::mscale_all_dim, 0}};
inline constexpr ModelKey<LatentAttention> kLatentKeys[] = {
    {"query_rank", &LatentAttention::query_rank, 0},
    {"kv_rank", &LatentAttention::kv_rank},
    {"nope_head_dim", &LatentAttention::nope_head_dim},
    {"rope_head_dim", &LatentAttention::rope_head_dim},
    {"value_head_dim", &LatentAttention::value_head_dim},
    {"index_heads", &LatentAttention::index_heads, 0},
    {"index_head_dim", &LatentAttention::index_head_dim},
    {"index_top_k", &LatentAttention::index_top_k}};
inline constexpr ModelKey<Experts> kExpertKeys[] = {{"count", &Experts::count},
                                                    {"top_k", &Experts::top_k},
                                                    {"ffn", &Experts::ffn},
                                                    {"shared_ffn", &Experts::shared_ffn, 0},
                                                    {"latent", &Experts::latent, 0},
                                                    {"shared_gate", &Experts::shared_gate},
                                                    {"correction_bias", &Experts::correction_bias},
                                                    {"normalize_top_k", &Experts::normalize_top_k},
                                                    {"bias", &Experts::bias},
                                                    {"router_bias", &Experts::router_bias},
                                                    {"groups", &Experts::groups},
                                                    {"top_groups", &Experts::top_groups},
                                                    {"scale", &Experts::scale, 0}};
inline constexpr ModelKey<RecurrentMixer> kStateMixerKeys[] = {
    {"heads", &RecurrentMixer::heads},
    {"head_dim", &RecurrentMixer::head_dim},
    {"groups", &RecurrentMixer::groups},
    {"state", &RecurrentMixer::state, 0},
    {"kernel", &RecurrentMixer::kernel},
    {"chunk", &RecurrentMixer::chunk},
    {"step_rank", &RecurrentMixer::step_rank, 0},
    {"convolution_bias", &RecurrentMixer::convolution_bias},
    {"bias", &RecurrentMixer::bias},
    {"normed", &RecurrentMixer::normed},
    {"selection_normed", &RecurrentMixer::selection_normed}};
inline constexpr ModelKey<ImageEncoder> kEncoderKeys[] = {
    {"parameters", &ImageEncoder::parameters, 0},
    {"projector", &ImageEncoder::projector, 0},
    {"patches", &ImageEncoder::patches, 0, kMaxImagePatches},
    {"tokens", &ImageEncoder::tokens, 0, kMaxImagePatches},
    {"flops", &ImageEncoder::flops, 0, 1e30},
    {"any_size", &ImageEncoder::any_size},
    {"layers", &ImageEncoder::layers, 0, kMostEncoderLayers},
    {"hidden", &ImageEncoder::hidden, 0, 1 << 20},
    {"heads", &ImageEncoder::heads, 1, 1 << 20},
    {"ffn", &ImageEncoder::ffn, 0, 1 << 20},
    {"gated", &ImageEncoder::gated},
    {"window", &ImageEncoder::window, 0, kMaxImagePatches},
    {"full_layers", &ImageEncoder::full_layers, 0, kMostEncoderLayers},
    {"images", &ImageEncoder::images, 0, kMaxImagesPerSequence}};
inline constexpr ModelKey<LayerClass> kLayerKeys[] = {{"window", &LayerClass::window, 0},
                                                      {"chunked", &LayerClass::chunked},
                                                      {"rotated", &LayerClass::rotated},
                                                      {"ffn", &LayerClass::ffn, 0}};

}  // namespace stepwright::model
