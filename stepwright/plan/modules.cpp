#include "stepwright/plan/modules.h"

#include "stepwright/model/layer_class_index.h"

namespace stepwright::plan {
namespace {

bool has_module(const model::Architecture& model, Module module) {
  switch (module) {
    case Module::kCoreAttention: return model::has_mixer(model, model::Mixer::kAttention);
    case Module::kNorm:
    case Module::kPerOperator: return true;
    case Module::kMlp: return model::has_feed_forward(model, model::FeedForward::kDense);
    case Module::kMoe:
    case Module::kMoeActivation: return model.experts.has_value();
    case Module::kSharedExperts: return model.has_shared_experts();
    case Module::kLatentUp: return model.latent.has_value();
  }
  return false;
}

}  // namespace

RecomputeModuleSet modules_existing_in_model(const model::Architecture& model,
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
