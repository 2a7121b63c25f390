#include "stepwright/plan/offload.h"

#include "stepwright/model/layer_class_index.h"

namespace stepwright::plan {
namespace {

bool holds(const model::ModelArchitecture& model, OffloadModule module) {
  const bool dense = model::model_has_feed_forward_kind(model, model::FeedForward::kDense);
  switch (module) {
    case OffloadModule::kLayerInput:
    case OffloadModule::kAttentionNorm: return true;
    case OffloadModule::kQkv:
    case OffloadModule::kCoreAttention:
    case OffloadModule::kAttentionProjection:
      return model::model_has_mixer_kind(model, model::TokenMixer::kAttention);
    case OffloadModule::kMlpNorm: return dense || model.experts.has_value();
    case OffloadModule::kMlpFc1:
    case OffloadModule::kMlpActivation: return dense;
    case OffloadModule::kExpertFc1:
    case OffloadModule::kMoeActivation: return model.experts.has_value();
  }
  return false;
}

}  // namespace

OffloadModuleSet modules_existing_in_model(const model::ModelArchitecture& model,
                                           OffloadModuleSet modules) {
  for (const auto& [module, name] : kOffloadModuleNames) {
    if (!holds(model, module)) modules.remove(module);
  }
  return modules;
}

std::vector<std::string_view> offloaded_activation_kind_names(OffloadModuleSet modules) {
  std::vector<std::string_view> words;
  for (const auto& [module, name] : kOffloadModuleNames) {
    if (modules.has(module)) words.push_back(name);
  }
  return words;
}

}  // namespace stepwright::plan
