#include "stepwright/simulate/price/chunk_layer_counts.h"

#include "stepwright/schedule/placement.h"

namespace stepwright::simulate {
namespace {

/// Counts a layer that comes before all layers counted so far.
void count_before(ModelChunkLayerCounts& content, std::size_t which, bool is_layer_recomputed) {
  for (EqualCostLayers& layers : content.alike) {
    if (layers.which != which || layers.is_layer_recomputed != is_layer_recomputed) continue;
    ++layers.count;
    return;
  }
  EqualCostLayers& first =
      content.alike.emplace_back(EqualCostLayers{which, is_layer_recomputed, 1, {}});
  for (std::size_t i = 0; i + 1 < content.alike.size(); ++i) {
    first.behind.push_back(content.alike[i].count);
  }
}

}  // namespace

void count_layers(const ModelBlockCosts& blocks, const plan::Plan& plan,
                  const model::LayerClassIndex& layers, const std::vector<std::int64_t>& split,
                  std::vector<ModelChunkLayerCounts>& contents) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  contents.resize(split.size());
  std::size_t layer = 0;
  for (std::size_t i = 0; i < split.size(); ++i) {
    ModelChunkLayerCounts& content = contents[i];
    content.layers = split[i];
    content.recompute = plan::recompute_of_pipeline_rank(
        plan.recompute, placement.place_of_model_chunk(static_cast<std::int64_t>(i)).position);
    content.plain_place =
        blocks.cost_index_of_recomputation(plan::common_layer_recompute(content.recompute));
    content.recomputed_place =
        blocks.cost_index_of_recomputation(plan::parts_recomputed_in_layers(content.recompute));
    content.alike.clear();
    for (std::int64_t k = split[i]; k-- > 0;) {
      count_before(content, layers.class_of[layer + static_cast<std::size_t>(k)],
                   content.is_layer_recomputed(k));
    }
    layer += static_cast<std::size_t>(split[i]);
  }
}

}  // namespace stepwright::simulate
