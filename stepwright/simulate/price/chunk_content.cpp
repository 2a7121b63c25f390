#include "stepwright/simulate/price/chunk_content.h"

#include "stepwright/schedule/placement.h"

namespace stepwright {

void count_layers(const BlockCosts& blocks, const Plan& plan, const LayerOrder& layers,
                  const std::vector<std::int64_t>& split, std::vector<ChunkContent>& contents) {
  const Placement placement = placement_of(plan);
  contents.resize(split.size());
  std::size_t layer = 0;
  for (std::size_t i = 0; i < split.size(); ++i) {
    ChunkContent& content = contents[i];
    content.layers = split[i];
    content.recompute =
        recompute_at(plan.recompute, placement.holder(static_cast<std::int64_t>(i)).position);
    content.plain_place = blocks.place(least_recomputed(content.recompute));
    content.recomputed_place = blocks.place(recomputed(content.recompute));
    content.plain.assign(layers.classes.size(), 0);
    content.recomputed.assign(layers.classes.size(), 0);
    for (std::int64_t k = 0; k < split[i]; ++k, ++layer) {
      auto& counts = content.again(k) ? content.recomputed : content.plain;
      ++counts[layers.class_of[layer]];
    }
  }
}

}  // namespace stepwright
