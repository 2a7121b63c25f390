#include "stepwright/plan/frameworks/stage_split.h"

#include <algorithm>

namespace stepwright::plan {
namespace {

/// Returns costs of modules as parameters of their products, with attention counted as if it had as
/// many key as query heads, and the MLP as gated (huggingface/nanotron
/// src/nanotron/models/llama.py, get_block_compute_costs).
ModuleCosts costs_of(const model::ModelArchitecture& model) {
  const auto hidden = static_cast<double>(model.hidden);
  return {.layer = 4 * hidden * hidden + 3 * static_cast<double>(model.ffn) * hidden,
          .head = static_cast<double>(model.vocabulary) * hidden};
}

/// Moves layers so that every stage has at least one.
void fill_empty(std::vector<std::int64_t>& shares) {
  for (std::size_t i = shares.size() - 1; i > 0; --i) {
    for (std::size_t from = i; shares[i] == 0 && from-- > 0;) {
      if (shares[from] < 2) continue;
      --shares[from];
      ++shares[i];
    }
  }
}

}  // namespace

std::vector<std::int64_t> stage_layers_by_modules(std::int64_t layers, std::int64_t stages) {
  constexpr std::int64_t kBefore = 1;  // modules before the layers: the embedding
  constexpr std::int64_t kBehind = 2;  // modules after the layers: the final norm and the head
  const std::int64_t modules = kBefore + layers + kBehind;
  std::vector<std::int64_t> shares(stages, modules / stages);
  for (std::int64_t i = 0; i < modules % stages; ++i) ++shares[i];
  shares.front() -= kBefore;
  shares.back() -= kBehind;
  if (std::ranges::min(shares) < 1) return {};
  return shares;
}

std::vector<std::int64_t> stage_layers_by_costs(std::int64_t layers, std::int64_t stages,
                                                const ModuleCosts& costs) {
  const double all = static_cast<double>(layers) * costs.layer + costs.head;
  std::vector<std::int64_t> shares(stages, 0);
  std::int64_t stage = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    ++shares[stage];
    const double sum = static_cast<double>(layer + 1) * costs.layer;
    if (sum * static_cast<double>(stages) > all * static_cast<double>(stage + 1)) {
      stage = std::min(stage + 1, stages - 1);
    }
  }
  fill_empty(shares);
  return shares;
}

std::vector<std::int64_t> framework_layer_counts_per_stage(StageSplitRule split,
                                                           const model::ModelArchitecture& model,
                                                           std::int64_t stages) {
  if (stages == 1 || model.layers < stages) return {};
  switch (split) {
    case StageSplitRule::kModules: return stage_layers_by_modules(model.layers, stages);
    case StageSplitRule::kCosts:
      return stage_layers_by_costs(model.layers, stages, costs_of(model));
    case StageSplitRule::kEven: break;
  }
  return {};
}

}  // namespace stepwright::plan
