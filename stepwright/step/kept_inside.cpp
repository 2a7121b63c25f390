#include "stepwright/step/kept_inside.h"

namespace stepwright::step {
namespace {

std::vector<Keep> inside_mixture() {
  std::vector<Keep> roles = {Keep::kRouterProbabilities,
                             Keep::kRouterIndices,
                             Keep::kTokenCounts,
                             Keep::kGatheredIndices,
                             Keep::kExpertWeights,
                             Keep::kExpertInput,
                             Keep::kExpertFc1Out,
                             Keep::kExpertActivationOut,
                             Keep::kGate,
                             Keep::kCombined,
                             Keep::kLatentOut,
                             Keep::kExpertFc1Narrow,
                             Keep::kExpertFc1AdapterInput,
                             Keep::kExpertFc1AdapterMask,
                             Keep::kExpertFc2Narrow,
                             Keep::kExpertFc2AdapterInput,
                             Keep::kExpertFc2AdapterMask};
  const std::vector<Keep> shared = tensors_kept_inside_module(plan::Module::kSharedExperts);
  roles.insert(roles.end(), shared.begin(), shared.end());
  return roles;
}

}  // namespace

std::vector<Keep> tensors_kept_inside_module(plan::Module module) {
  switch (module) {
    case plan::Module::kCoreAttention:
      return {Keep::kHeadsQkv,      Keep::kHeadsOut,        Keep::kLogSumExp,
              Keep::kProbabilities, Keep::kProbabilityMask, Keep::kDropped};
    case plan::Module::kMlp:
      return {Keep::kFc1Out,         Keep::kFc1Up,     Keep::kGate,
              Keep::kActivationOut,  Keep::kFc1Narrow, Keep::kFc1AdapterInput,
              Keep::kFc1AdapterMask, Keep::kFc2Narrow, Keep::kFc2AdapterInput,
              Keep::kFc2AdapterMask};
    case plan::Module::kMoe: return inside_mixture();
    case plan::Module::kMoeActivation: return {Keep::kExpertActivationOut};
    case plan::Module::kNorm:
      return {Keep::kAttentionLinearInput,
              Keep::kKeyValueUp,
              Keep::kMlpLinearInput,
              Keep::kSharedLinearInput,
              Keep::kAttentionNormCopies,
              Keep::kMlpNormCopies,
              Keep::kMlpEntry};
    case plan::Module::kLatentUp:
      return {Keep::kQkv,
              Keep::kHeadsQkv,
              Keep::kQueryUpNarrow,
              Keep::kQueryUpAdapterInput,
              Keep::kQueryUpAdapterMask,
              Keep::kKeyValueUpNarrow,
              Keep::kKeyValueUpAdapterInput,
              Keep::kKeyValueUpAdapterMask};
    case plan::Module::kSharedExperts:
      return {Keep::kSharedLinearInput,
              Keep::kSharedFc1Out,
              Keep::kSharedActivationOut,
              Keep::kSharedOut,
              Keep::kSharedGate,
              Keep::kSharedFc1Narrow,
              Keep::kSharedFc1AdapterInput,
              Keep::kSharedFc1AdapterMask,
              Keep::kSharedFc2Narrow,
              Keep::kSharedFc2AdapterInput,
              Keep::kSharedFc2AdapterMask};
    // Recomputation by operator recomputes every second product of wq, wk, wv, wo, w1, w3, w2; for
    // the first three, which are one tensor here, only the norm before them. It keeps no grouped
    // product.
    case plan::Module::kPerOperator:
      return {Keep::kAttentionLinearInput,
              Keep::kAttentionNormCopies,
              Keep::kQkNormed,
              Keep::kMlpNormCopies,
              Keep::kMlpLinearInput,
              Keep::kMlpEntry,
              Keep::kFc1Up,
              Keep::kGate,
              Keep::kActivationOut,
              Keep::kSharedLinearInput,
              Keep::kSharedActivationOut,
              Keep::kRouterProbabilities,
              Keep::kExpertFc1Out,
              Keep::kExpertActivationOut};
  }
  return {};
}

}  // namespace stepwright::step
