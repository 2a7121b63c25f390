#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// Equal layers of one chunk: of one class, and either all recomputed by `every: n` or none.
struct AlikeLayers {
  std::size_t which = 0;  ///< Index of the layer class.
  bool again = false;
  std::int64_t count = 0;
  /// Number of layers after the last of these in the chunk, by their index in
  /// `ChunkContent::alike`; only kinds listed before this one can have any.
  std::vector<std::int64_t> behind;
  bool operator==(const AlikeLayers&) const = default;
};

/// The layers of one chunk, and the index of their costs in the block costs, recomputed or not.
struct ChunkContent {
  std::int64_t layers = 0;
  plan::Recompute recompute;
  std::size_t plain_place = 0;
  std::size_t recomputed_place = 0;
  std::vector<AlikeLayers> alike;  ///< Kinds of layers, the kind of the last layer first.
  bool operator==(const ChunkContent&) const = default;

  /// True if `every: n` recomputes a layer; always false without it.
  [[nodiscard]] bool again(std::int64_t layer) const {
    return recompute.every > 1 && plan::is_recomputed(recompute, layer);
  }
  /// Returns the index of a layer's costs in `BlockCosts::Layer::with`.
  [[nodiscard]] std::size_t place(std::int64_t layer) const {
    return again(layer) ? recomputed_place : plain_place;
  }
  [[nodiscard]] std::size_t place(const AlikeLayers& kind) const {
    return kind.again ? recomputed_place : plain_place;
  }
};

/// Counts the layers of every chunk of the model into `contents`, reusing its memory. `split`:
/// layers of each chunk (`chunk_layers`).
void count_layers(const BlockCosts& blocks, const plan::Plan& plan, const model::LayerOrder& layers,
                  const std::vector<std::int64_t>& split, std::vector<ChunkContent>& contents);

}  // namespace stepwright::simulate
