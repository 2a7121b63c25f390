#include "stepwright/step/kept_inside.h"

namespace stepwright::step {
namespace {

std::vector<KeptTensorRole> inside_mixture() {
  std::vector<KeptTensorRole> roles = {KeptTensorRole::kRouterProbabilities,
                                       KeptTensorRole::kRouterIndices,
                                       KeptTensorRole::kTokenCounts,
                                       KeptTensorRole::kGatheredIndices,
                                       KeptTensorRole::kExpertWeights,
                                       KeptTensorRole::kExpertInput,
                                       KeptTensorRole::kExpertFc1Out,
                                       KeptTensorRole::kExpertActivationOut,
                                       KeptTensorRole::kExpertUnweighted,
                                       KeptTensorRole::kGate,
                                       KeptTensorRole::kCombined,
                                       KeptTensorRole::kLatentOut,
                                       KeptTensorRole::kExpertFc1Narrow,
                                       KeptTensorRole::kExpertFc1AdapterInput,
                                       KeptTensorRole::kExpertFc1AdapterMask,
                                       KeptTensorRole::kExpertFc2Narrow,
                                       KeptTensorRole::kExpertFc2AdapterInput,
                                       KeptTensorRole::kExpertFc2AdapterMask};
  const std::vector<KeptTensorRole> shared =
      tensors_kept_inside_module(plan::RecomputeModule::kSharedExperts);
  roles.insert(roles.end(), shared.begin(), shared.end());
  return roles;
}

}  // namespace

std::vector<KeptTensorRole> tensors_kept_inside_module(plan::RecomputeModule module) {
  switch (module) {
    case plan::RecomputeModule::kCoreAttention:
      return {KeptTensorRole::kHeadsQkv,        KeptTensorRole::kHeadsOut,
              KeptTensorRole::kLogSumExp,       KeptTensorRole::kProbabilities,
              KeptTensorRole::kProbabilityMask, KeptTensorRole::kDropped};
    case plan::RecomputeModule::kMlp:
      return {KeptTensorRole::kFc1Out,
              KeptTensorRole::kFc1Up,
              KeptTensorRole::kGate,
              KeptTensorRole::kActivationOut,
              KeptTensorRole::kFc1Narrow,
              KeptTensorRole::kFc1AdapterInput,
              KeptTensorRole::kFc1AdapterMask,
              KeptTensorRole::kFc2Narrow,
              KeptTensorRole::kFc2AdapterInput,
              KeptTensorRole::kFc2AdapterMask};
    case plan::RecomputeModule::kMoe: return inside_mixture();
    case plan::RecomputeModule::kMoeActivation:
      return {KeptTensorRole::kExpertActivationOut, KeptTensorRole::kExpertUnweighted};
    case plan::RecomputeModule::kNorm:
      return {KeptTensorRole::kAttentionLinearInput,
              KeptTensorRole::kKeyValueUp,
              KeptTensorRole::kMlpLinearInput,
              KeptTensorRole::kSharedLinearInput,
              KeptTensorRole::kAttentionNormCopies,
              KeptTensorRole::kMlpNormCopies,
              KeptTensorRole::kMlpEntry};
    case plan::RecomputeModule::kLatentUp:
      return {KeptTensorRole::kQkv,
              KeptTensorRole::kHeadsQkv,
              KeptTensorRole::kQueryUpNarrow,
              KeptTensorRole::kQueryUpAdapterInput,
              KeptTensorRole::kQueryUpAdapterMask,
              KeptTensorRole::kKeyValueUpNarrow,
              KeptTensorRole::kKeyValueUpAdapterInput,
              KeptTensorRole::kKeyValueUpAdapterMask};
    case plan::RecomputeModule::kSharedExperts:
      return {KeptTensorRole::kSharedLinearInput,
              KeptTensorRole::kSharedFc1Out,
              KeptTensorRole::kSharedActivationOut,
              KeptTensorRole::kSharedOut,
              KeptTensorRole::kSharedGate,
              KeptTensorRole::kSharedFc1Narrow,
              KeptTensorRole::kSharedFc1AdapterInput,
              KeptTensorRole::kSharedFc1AdapterMask,
              KeptTensorRole::kSharedFc2Narrow,
              KeptTensorRole::kSharedFc2AdapterInput,
              KeptTensorRole::kSharedFc2AdapterMask};
    // Recomputation by operator recomputes every second product of wq, wk, wv, wo, w1, w3, w2; for
    // the first three, which are one tensor here, only the norm before them. It keeps no grouped
    // product.
    case plan::RecomputeModule::kPerOperator:
      return {KeptTensorRole::kAttentionLinearInput,
              KeptTensorRole::kAttentionNormCopies,
              KeptTensorRole::kQkNormed,
              KeptTensorRole::kMlpNormCopies,
              KeptTensorRole::kMlpLinearInput,
              KeptTensorRole::kMlpEntry,
              KeptTensorRole::kFc1Up,
              KeptTensorRole::kGate,
              KeptTensorRole::kActivationOut,
              KeptTensorRole::kSharedLinearInput,
              KeptTensorRole::kSharedActivationOut,
              KeptTensorRole::kRouterProbabilities,
              KeptTensorRole::kExpertFc1Out,
              KeptTensorRole::kExpertActivationOut};
  }
  return {};
}

}  // namespace stepwright::step
