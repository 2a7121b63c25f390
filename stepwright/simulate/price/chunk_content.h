#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// Layers of one chunk that are alike: of one class, and among those that `every: n` recomputes or
/// not.
struct AlikeLayers {
  std::size_t which = 0;  ///< Index into the classes.
  bool again = false;
  std::int64_t count = 0;
  /// Layers behind the last of these, by their place in `ChunkContent::alike`: none but those
  /// before these there.
  std::vector<std::int64_t> behind;
  bool operator==(const AlikeLayers&) const = default;
};

/// Layers of one chunk, and where block costs have what is recomputed and what is not.
struct ChunkContent {
  std::int64_t layers = 0;
  plan::Recompute recompute;
  std::size_t plain_place = 0;
  std::size_t recomputed_place = 0;
  std::vector<AlikeLayers> alike;  ///< The kind of the last layer first.
  bool operator==(const ChunkContent&) const = default;

  /// Whether a layer counts among the recomputed: without `every: n` none does.
  [[nodiscard]] bool again(std::int64_t layer) const {
    return recompute.every > 1 && plan::is_recomputed(recompute, layer);
  }
  /// In the block costs of a layer.
  [[nodiscard]] std::size_t place(std::int64_t layer) const {
    return again(layer) ? recomputed_place : plain_place;
  }
  [[nodiscard]] std::size_t place(const AlikeLayers& kind) const {
    return kind.again ? recomputed_place : plain_place;
  }
};

/// Counts the layers of every chunk of the model in `contents`, whose room is kept.
/// `split`: layers of each chunk (`chunk_layers`).
void count_layers(const BlockCosts& blocks, const plan::Plan& plan, const model::LayerOrder& layers,
                  const std::vector<std::int64_t>& split, std::vector<ChunkContent>& contents);

}  // namespace stepwright::simulate
