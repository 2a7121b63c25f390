#include "stepwright/huggingface/families.h"

namespace stepwright::huggingface {
namespace {

std::vector<Family> joined() {
  std::vector<Family> all;
  for (const auto& families : {llama_weights(), gpt_weights(), expert_weights(), state_weights()}) {
    all.insert(all.end(), families.begin(), families.end());
  }
  return all;
}

}  // namespace

const std::vector<Family>& weight_families() {
  static const std::vector<Family> all = joined();
  return all;
}

const Family* find_family(std::string_view model_type) {
  for (const Family& family : weight_families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

}  // namespace stepwright::huggingface
