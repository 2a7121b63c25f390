#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "stepwright/core/named.h"

namespace stepwright {

/// Which part of a layer, or which table at its ends, an operator is of. A product or a norm of a
/// part uses the parameter of the same name.
enum class LayerPart : std::uint8_t {
  kNone,
  // Attention.
  kAttentionNorm,
  kQkv,
  kQuery,
  kQueryDown,
  kQueryNorm,
  kQueryUp,
  kKeyValueDown,
  kKeyValueNorm,
  kKeyValueUp,
  kKeyPositions,
  kLatentGradient,
  kIndexQuery,
  kIndexKey,
  kIndexNorm,
  kIndexWeights,
  kIndexScores,
  kRotary,
  kAttentionCore,
  kScores,
  kSoftmax,
  kProbabilityDropout,
  kAttendValues,
  kProbabilitiesGradient,
  kValuesGradient,
  kQueriesGradient,
  kKeysGradient,
  kAttentionGate,
  kAttentionOutput,
  kAttentionResultNorm,
  // Mixers that carry a state.
  kMixerIn,
  kMixerConvolution,
  kMixerSelect,
  kMixerSelectNorm,
  kMixerStep,
  kMixerScan,
  kMixerNorm,
  kMixerOut,
  // Messages of context parallelism.
  kContextQueries,
  kContextKeys,
  kContextValues,
  kContextOut,
  kContextMixerIn,
  kContextMixerOut,
  kKeyValues,
  kKeyValuesGradient,
  // The residual stream.
  kAttentionDropout,
  kAttentionResidual,
  kMlpDropout,
  kMlpResidual,
  kBranches,
  // The dense MLP.
  kMlpNorm,
  kFc1,
  kFc2,
  kMlpResultNorm,
  // The router.
  kRouter,
  kTopK,
  // Routed experts.
  kExpertCounts,
  kExpertIndices,
  kPermute,
  kDispatch,
  kGateWeights,
  kSort,
  kExpertFc1,
  kExpertFc2,
  kUnsort,
  kCombine,
  kUnpermute,
  kGateWeightsGradient,
  kExpertSum,
  // Shared experts.
  kSharedFc1,
  kSharedFc2,
  kSharedGate,
  // Activation functions.
  kMlpActivation,
  kExpertActivation,
  kSharedActivation,
  // Tables and the norms beside them.
  kEmbedding,
  kPosition,
  kEmbeddingNorm,
  kEmbeddingDropout,
  kFinalNorm,
  kHead,
  // Modules that predict tokens further ahead.
  kMultiTokenEmbeddingNorm,
  kMultiTokenHiddenNorm,
  kMultiTokenJoin,
  kMultiTokenProjection,
  kMultiTokenFinalNorm,
};
inline constexpr Named<LayerPart> kLayerPartNames[] = {
    {LayerPart::kNone, ""},
    {LayerPart::kAttentionNorm, "norm.attention"},
    {LayerPart::kQkv, "attention.qkv"},
    {LayerPart::kQuery, "attention.q"},
    {LayerPart::kQueryDown, "attention.q_down"},
    {LayerPart::kQueryNorm, "attention.q_norm"},
    {LayerPart::kQueryUp, "attention.q_up"},
    {LayerPart::kKeyValueDown, "attention.kv_down"},
    {LayerPart::kKeyValueNorm, "attention.kv_norm"},
    {LayerPart::kKeyValueUp, "attention.kv_up"},
    {LayerPart::kKeyPositions, "attention.key_positions"},
    {LayerPart::kLatentGradient, "attention.latent_gradient"},
    {LayerPart::kIndexQuery, "attention.index_q"},
    {LayerPart::kIndexKey, "attention.index_k"},
    {LayerPart::kIndexNorm, "attention.index_norm"},
    {LayerPart::kIndexWeights, "attention.index_weights"},
    {LayerPart::kIndexScores, "attention.index_scores"},
    {LayerPart::kRotary, "attention.rotary"},
    {LayerPart::kAttentionCore, "attention.core"},
    {LayerPart::kScores, "attention.scores"},
    {LayerPart::kSoftmax, "attention.softmax"},
    {LayerPart::kProbabilityDropout, "attention.dropout"},
    {LayerPart::kAttendValues, "attention.values"},
    {LayerPart::kProbabilitiesGradient, "attention.probabilities_gradient"},
    {LayerPart::kValuesGradient, "attention.values_gradient"},
    {LayerPart::kQueriesGradient, "attention.queries_gradient"},
    {LayerPart::kKeysGradient, "attention.keys_gradient"},
    {LayerPart::kAttentionGate, "attention.gate"},
    {LayerPart::kAttentionOutput, "attention.output"},
    {LayerPart::kAttentionResultNorm, "norm.attention_out"},
    {LayerPart::kMixerIn, "mixer.in"},
    {LayerPart::kMixerConvolution, "mixer.convolution"},
    {LayerPart::kMixerSelect, "mixer.select"},
    {LayerPart::kMixerSelectNorm, "mixer.select_norm"},
    {LayerPart::kMixerStep, "mixer.step"},
    {LayerPart::kMixerScan, "mixer.scan"},
    {LayerPart::kMixerNorm, "mixer.norm"},
    {LayerPart::kMixerOut, "mixer.out"},
    {LayerPart::kContextQueries, "context.queries"},
    {LayerPart::kContextKeys, "context.keys"},
    {LayerPart::kContextValues, "context.values"},
    {LayerPart::kContextOut, "context.out"},
    {LayerPart::kContextMixerIn, "context.mixer_in"},
    {LayerPart::kContextMixerOut, "context.mixer_out"},
    {LayerPart::kKeyValues, "context.key_values"},
    {LayerPart::kKeyValuesGradient, "context.key_values_gradient"},
    {LayerPart::kAttentionDropout, "dropout"},
    {LayerPart::kAttentionResidual, "residual"},
    {LayerPart::kMlpDropout, "dropout"},
    {LayerPart::kMlpResidual, "residual"},
    {LayerPart::kBranches, "branches"},
    {LayerPart::kMlpNorm, "norm.mlp"},
    {LayerPart::kFc1, "mlp.fc1"},
    {LayerPart::kFc2, "mlp.fc2"},
    {LayerPart::kMlpResultNorm, "norm.mlp_out"},
    {LayerPart::kRouter, "router.weight"},
    {LayerPart::kTopK, "router.top_k"},
    {LayerPart::kExpertCounts, "experts.counts"},
    {LayerPart::kExpertIndices, "experts.indices"},
    {LayerPart::kPermute, "experts.permute"},
    {LayerPart::kDispatch, "experts.dispatch"},
    {LayerPart::kGateWeights, "experts.probabilities"},
    {LayerPart::kSort, "experts.sort"},
    {LayerPart::kExpertFc1, "experts.fc1"},
    {LayerPart::kExpertFc2, "experts.fc2"},
    {LayerPart::kUnsort, "experts.unsort"},
    {LayerPart::kCombine, "experts.combine"},
    {LayerPart::kUnpermute, "experts.unpermute"},
    {LayerPart::kGateWeightsGradient, "experts.probabilities_gradient"},
    {LayerPart::kExpertSum, "experts.sum"},
    {LayerPart::kSharedFc1, "shared.fc1"},
    {LayerPart::kSharedFc2, "shared.fc2"},
    {LayerPart::kSharedGate, "shared.gate"},
    {LayerPart::kMlpActivation, "activation"},
    {LayerPart::kExpertActivation, "activation"},
    {LayerPart::kSharedActivation, "activation"},
    {LayerPart::kEmbedding, "embedding.word"},
    {LayerPart::kPosition, "embedding.position"},
    {LayerPart::kEmbeddingNorm, "embedding.norm"},
    {LayerPart::kEmbeddingDropout, "dropout"},
    {LayerPart::kFinalNorm, "norm.final"},
    {LayerPart::kHead, "head.weight"},
    {LayerPart::kMultiTokenEmbeddingNorm, "multi_token.norm_embedding"},
    {LayerPart::kMultiTokenHiddenNorm, "multi_token.norm_hidden"},
    {LayerPart::kMultiTokenJoin, "multi_token.join"},
    {LayerPart::kMultiTokenProjection, "multi_token.projection"},
    {LayerPart::kMultiTokenFinalNorm, "multi_token.norm_final"}};

/// For people, and of the part's parameter.
constexpr std::string_view name_of(LayerPart part) {
  return kLayerPartNames[static_cast<std::size_t>(part)].name;
}

/// Whether it is one of a run of parts, in the order of the enumerators.
constexpr bool lies_in(LayerPart part, LayerPart first, LayerPart last) {
  return part >= first && part <= last;
}
constexpr bool is_of_attention(LayerPart part) {
  return lies_in(part, LayerPart::kAttentionNorm, LayerPart::kMixerOut);
}

}  // namespace stepwright
