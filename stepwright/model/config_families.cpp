#include "stepwright/model/config_families.h"

#include <algorithm>

namespace stepwright::model {
namespace {

std::vector<ModelConfigFamily> joined() {
  std::vector<ModelConfigFamily> all;
  for (const auto& families :
       {dense_model_families(), gemma_model_families(), gpt2_model_families(),
        softmax_router_model_families(), sigmoid_router_model_families(),
        latent_attention_families(), mamba_families(), delta_net_families()}) {
    all.insert(all.end(), families.begin(), families.end());
  }
  std::ranges::sort(all, {}, &ModelConfigFamily::model_type);
  return all;
}

}  // namespace

const std::vector<ModelConfigFamily>& model_config_families() {
  static const std::vector<ModelConfigFamily> all = joined();
  return all;
}

}  // namespace stepwright::model
