#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright {

/// Layers of one chunk by class and by whether they are among those that `every: n` recomputes,
/// and where block costs have both.
struct ChunkContent {
  std::int64_t layers = 0;
  Recompute recompute;
  std::size_t plain_place = 0;
  std::size_t recomputed_place = 0;
  std::vector<std::int64_t> plain;
  std::vector<std::int64_t> recomputed;
  bool operator==(const ChunkContent&) const = default;

  /// Whether a layer counts among the recomputed: without `every: n` none does.
  [[nodiscard]] bool again(std::int64_t layer) const {
    return recompute.every > 1 && is_recomputed(recompute, layer);
  }
  /// In the block costs of a layer.
  [[nodiscard]] std::size_t place(std::int64_t layer) const {
    return again(layer) ? recomputed_place : plain_place;
  }
};

/// Counts the layers of every chunk of the model, by class, in `contents`, whose room is kept.
/// `split`: layers of each chunk (`chunk_layers`).
void count_layers(const BlockCosts& blocks, const Plan& plan, const LayerOrder& layers,
                  const std::vector<std::int64_t>& split, std::vector<ChunkContent>& contents);

}  // namespace stepwright
