#include "stepwright/plan/modules.h"

#include "stepwright/model/layer_class_index.h"

namespace stepwright::plan {
namespace {

bool has_module(const model::ModelArchitecture& model, RecomputeModule module) {
  switch (module) {
    case RecomputeModule::kCoreAttention:
      return model::model_has_mixer_kind(model, model::TokenMixer::kAttention);
    case RecomputeModule::kNorm:
    case RecomputeModule::kPerOperator: return true;
    case RecomputeModule::kMlp:
      return model::model_has_feed_forward_kind(model, model::FeedForward::kDense);
    case RecomputeModule::kMoe:
    case RecomputeModule::kMoeActivation: return model.experts.has_value();
    case RecomputeModule::kSharedExperts: return model.has_shared_experts();
    case RecomputeModule::kLatentUp: return model.latent.has_value();
  }
  return false;
}

}  // namespace

RecomputeModuleSet modules_existing_in_model(const model::ModelArchitecture& model,
                                             RecomputeModuleSet modules) {
  for (const auto& [module, name] : kModuleNames) {
    if (!has_module(model, module)) modules.remove(module);
  }
  return modules;
}

std::vector<std::string_view> recompute_module_names(RecomputeModuleSet modules) {
  std::vector<std::string_view> words;
  for (const auto& [module, name] : kModuleNames) {
    if (modules.has(module)) words.push_back(name);
  }
  return words;
}

}  // namespace stepwright::plan
