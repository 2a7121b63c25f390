#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/recompute.h"
#include "stepwright/simulate/price/block_costs.h"

namespace stepwright::simulate {

/// A number of layers of one chunk that cost the same: layers with equal operators, and either all
/// or none of them recomputed.
struct EqualCostLayers {
  /// Index, in the costs of blocks, of the class of these layers (layers with equal operators).
  std::size_t which = 0;
  bool is_layer_recomputed = false;
  std::int64_t count = 0;
  /// Number of layers that follow the last of these layers in the chunk, for each kind in
  /// `ModelChunkLayerCounts::alike`; only kinds listed before this one can have any.
  std::vector<std::int64_t> behind;
  bool operator==(const EqualCostLayers&) const = default;
};

/// The layers of one model chunk, counted by kind (layers that cost the same), and the indices
/// under which the costs of blocks hold their costs with and without recomputation.
struct ModelChunkLayerCounts {
  std::int64_t layers = 0;
  plan::ActivationRecomputation recompute;
  std::size_t plain_place = 0;
  std::size_t recomputed_place = 0;
  /// Kinds of layers in the model chunk (layers of one kind cost the same), each with its count;
  /// the kind of the last layer comes first.
  std::vector<EqualCostLayers> alike;
  bool operator==(const ModelChunkLayerCounts&) const = default;

  /// True if the plan recomputes only some layers of a chunk and this one is among them; false if
  /// it treats all layers alike.
  [[nodiscard]] bool is_layer_recomputed(std::int64_t layer) const {
    return plan::recomputes_some_layers(recompute) &&
           plan::is_layer_index_recomputed(recompute, layer);
  }
  /// Returns the index of a layer's costs in `ModelBlockCosts::Layer::with`, by whether the layer
  /// is recomputed.
  [[nodiscard]] std::size_t cost_index_of_layer(std::int64_t layer) const {
    return is_layer_recomputed(layer) ? recomputed_place : plain_place;
  }
  [[nodiscard]] std::size_t cost_index_of_layer(const EqualCostLayers& kind) const {
    return kind.is_layer_recomputed ? recomputed_place : plain_place;
  }
};

/// Counts the layers of every model chunk, by kind (layers that cost the same), into `contents`,
/// whose memory is reused. `split`: number of layers of each chunk (`layers_per_chunk`).
void count_layers(const ModelBlockCosts& blocks, const plan::Plan& plan,
                  const model::LayerClassIndex& layers, const std::vector<std::int64_t>& split,
                  std::vector<ModelChunkLayerCounts>& contents);

}  // namespace stepwright::simulate
