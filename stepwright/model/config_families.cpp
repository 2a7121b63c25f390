#include "stepwright/model/config_families.h"

#include <algorithm>

namespace stepwright::model {
namespace {

std::vector<ConfigFamily> joined() {
  std::vector<ConfigFamily> all;
  for (const auto& families :
       {dense_families(), gemma_families(), gpt_families(), expert_families(), sigmoid_families(),
        latent_families(), mamba_families(), delta_families()}) {
    all.insert(all.end(), families.begin(), families.end());
  }
  std::ranges::sort(all, {}, &ConfigFamily::model_type);
  return all;
}

}  // namespace

const std::vector<ConfigFamily>& config_families() {
  static const std::vector<ConfigFamily> all = joined();
  return all;
}

}  // namespace stepwright::model
