#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// One key of an inline model (docs/formats.md, "Inline model"): its name, the member of
/// `InlineModelPart` that it sets, and the allowed range. Absent: the member's default; if that is
/// below `low`, the key is required.
template <class InlineModelPart>
struct ModelKey {
  std::string_view key;
  std::variant<std::int64_t InlineModelPart::*, double InlineModelPart::*, bool InlineModelPart::*>
      value;
  double low = 1;
  double high = kMaxModelDimension;
};

inline constexpr ModelKey<ModelArchitecture> kNormKeys[] = {
    {"norm_epsilon", &ModelArchitecture::norm_epsilon, 0, 1},
    {"inner_norm_epsilon", &ModelArchitecture::inner_norm_epsilon, 0, 1}};
inline constexpr ModelKey<ModelArchitecture> kRotaryKeys[] = {
    {"first_position", &ModelArchitecture::first_position, 0},
    {"rotary_fraction", &ModelArchitecture::rotary_fraction, 0, 1},
    {"rotary_base", &ModelArchitecture::rotary_base, 0},
    {"window_rotary_base", &ModelArchitecture::window_rotary_base, 0}};
inline constexpr ModelKey<ModelArchitecture> kBlockKeys[] = {
    {"head_bias", &ModelArchitecture::head_bias},
    {"qk_norm_bias", &ModelArchitecture::qk_norm_bias},
    {"attention_gate", &ModelArchitecture::attention_gate},
    {"gate_bias", &ModelArchitecture::gate_bias},
    {"sinks", &ModelArchitecture::sinks},
    {"norm_weight", &ModelArchitecture::norm_weight},
    {"norm_unit_offset", &ModelArchitecture::norm_unit_offset},
    {"attention_scale", &ModelArchitecture::attention_scale, 0},
    {"attention_cap", &ModelArchitecture::attention_cap, 0},
    {"logit_cap", &ModelArchitecture::logit_cap, 0},
    {"logit_scale", &ModelArchitecture::logit_scale, 0},
    {"embedding_scale", &ModelArchitecture::embedding_scale, 0},
    {"residual_scale", &ModelArchitecture::residual_scale, 0},
    {"embedding_norm", &ModelArchitecture::embedding_norm},
    {"parallel_residual", &ModelArchitecture::parallel_residual},
    {"shared_input_norm", &ModelArchitecture::shared_input_norm}};
inline constexpr ModelKey<ModelArchitecture> kMultiTokenKeys[] = {
    {"multi_token_layers", &ModelArchitecture::multi_token_layers, 0},
    {"count_multi_token", &ModelArchitecture::count_multi_token},
    {"multi_token_weight", &ModelArchitecture::multi_token_weight, 0}};
inline constexpr ModelKey<RotaryScaling> kScalingKeys[] = {{"factor", &RotaryScaling::factor, 0}};
/// Groups of inline-model keys that a method of rotary scaling (llama3, yarn, ...) has, besides
/// `factor`.
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
/// Keys that an inline model may have for the rotary scalings llama3 and yarn, besides those of all
/// methods.
inline constexpr ModelKey<RotaryScaling> kRotaryScalingKeys[] = {
    {"low_frequency", &RotaryScaling::low_frequency, 0},
    {"high_frequency", &RotaryScaling::high_frequency, 0}};
/// Additional inline-model keys of the rotary scalings llama3, yarn and longrope.
inline constexpr ModelKey<RotaryScaling> kOriginalRotaryScalingKeys[] = {
    {"original_positions", &RotaryScaling::original_positions}};
/// Additional inline-model keys of the rotary scalings yarn and longrope.
inline constexpr ModelKey<RotaryScaling> kRotaryAmplitudeKeys[] = {
    {"attention_factor", &RotaryScaling::attention_factor, 0}};
/// Keys that an inline model may have for the rotary scaling yarn alone.
inline constexpr ModelKey<RotaryScaling> kYarnRotaryScalingKeys[] = {
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
inline constexpr ModelKey<MixtureOfExperts> kExpertKeys[] = {
    {"count", &MixtureOfExperts::count},
    {"top_k", &MixtureOfExperts::top_k},
    {"ffn", &MixtureOfExperts::ffn},
    {"shared_ffn", &MixtureOfExperts::shared_ffn, 0},
    {"latent", &MixtureOfExperts::latent, 0},
    {"shared_gate", &MixtureOfExperts::shared_gate},
    {"correction_bias", &MixtureOfExperts::correction_bias},
    {"normalize_top_k", &MixtureOfExperts::normalize_top_k},
    {"bias", &MixtureOfExperts::bias},
    {"router_bias", &MixtureOfExperts::router_bias},
    {"groups", &MixtureOfExperts::groups},
    {"top_groups", &MixtureOfExperts::top_groups},
    {"scale", &MixtureOfExperts::scale, 0}};
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
