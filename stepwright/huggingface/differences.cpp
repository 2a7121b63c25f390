#include "stepwright/huggingface/differences.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::huggingface {
namespace {

/// Returns the fields that decide parameters and results. Multi-token layers are left out, since a
/// job chooses whether a step has them.
nlohmann::ordered_json essence(model::ModelArchitecture model) {
  model.name.clear();
  model.dropout = 0;
  model.multi_token_layers = 0;
  model.count_multi_token = false;
  model.multi_token_weight = model::ModelArchitecture{}.multi_token_weight;
  if (model.position != model::PositionEncoding::kLearned) model.positions = 0;
  if (!model::has_default_ffn_layer(model)) model.ffn = 0;
  // Scores with a correction bias are sigmoids, whether or not a model says so (arXiv 2412.19437,
  // 2.1.2).
  if (model.experts && model.experts->correction_bias)
    model.experts->scoring = model::RouterScoring::kSigmoid;
  return model::inline_model_mapping(model);
}

std::string text(const nlohmann::ordered_json& json, const std::string& key) {
  const auto found = json.find(key);
  return found == json.end() ? "none" : found->dump();
}

}  // namespace

std::vector<std::string> differences_between_models(const model::ModelArchitecture& theirs,
                                                    const model::ModelArchitecture& ours) {
  const auto a = essence(theirs);
  const auto b = essence(ours);
  std::set<std::string> keys;
  for (const auto& json : {a, b}) {
    for (const auto& [key, value] : json.items()) keys.insert(key);
  }
  std::vector<std::string> found;
  for (const std::string& key : keys) {
    if (text(a, key) == text(b, key)) continue;
    found.push_back(fmt::format("{}: {}, here {}", key, text(a, key), text(b, key)));
  }
  return found;
}

}  // namespace stepwright::huggingface
