// Composes the chunks of a pipeline from blocks.
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pipeline_cost.h"

namespace stepwright::simulate {

void PipelinePricer::add_layers(ModelChunkCost& chunk, PipelinePositionCost& stage,
                                const ModelBlockCosts& blocks,
                                const ModelChunkLayerCounts& content) const {
  for (const EqualCostLayers& alike : content.alike) {
    const ModelBlockCosts::Layer& layer = blocks.layers[alike.which];
    const ModelBlockCosts::RecomputedLayerCost& costs =
        layer.cost_at_place(content.cost_index_of_layer(alike));
    chunk.add(costs.cost, splits_backwards() ? &costs.split_backward_costs() : nullptr, form_,
              static_cast<double>(alike.count));
    stage.units += alike.count;
    stage.blocks.keep(layer.size);
    if (layer.size.expert > 0) stage.routed_units += alike.count;
    if (job_.model.adjusts_router_biases(layer.which)) stage.corrected += alike.count;
    if (layer.size.has_trained_parameters()) stage.trained_units += alike.count;
    if (splits_backwards()) chunk.cut_size.dense += alike.count * layer.size.dense;
    if (splits_backwards()) chunk.cut_size.expert += alike.count * layer.size.expert;
    if (!job_.model.adapters) chunk.begun_size = chunk.cut_size;
    stage.size.add(layer.size, alike.count);
    if (layer.which.gradients == model::LayerGradientFlow::kAbove)
      stage.resting.add(layer.size, alike.count);
  }
}

/// Adds the peaks of a chunk's layers: for each kind of layer the moment of its last layer, plus
/// all bytes that the chunk keeps before that layer. The costs of the layers and of an embedding
/// are already in the chunk.
void PipelinePricer::keep_layer_peaks(ModelChunkCost& chunk, const ModelBlockCosts& blocks,
                                      const ModelChunkLayerCounts& content) const {
  const auto costs_of =
      [&](const EqualCostLayers& layers) -> const ModelBlockCosts::RecomputedLayerCost& {
    return blocks.layers[layers.which].cost_at_place(content.cost_index_of_layer(layers));
  };
  for (const EqualCostLayers& alike : content.alike) {
    const ModelBlockCosts::RecomputedLayerCost& own = costs_of(alike);
    KeptBlockBytes before{
        chunk.forward.retained_bytes - own.cost.forward.retained_bytes,
        chunk.backward.retained_bytes - own.split_backward_costs().data.retained_bytes};
    for (std::size_t i = 0; i < alike.behind.size(); ++i) {
      const ModelBlockCosts::RecomputedLayerCost& behind = costs_of(content.alike[i]);
      const auto count = static_cast<double>(alike.behind[i]);
      before.forward -= count * behind.cost.forward.retained_bytes;
      before.data -= count * behind.split_backward_costs().data.retained_bytes;
    }
    chunk.raise_memory_peaks_to_moment(
        own.cost, splits_backwards() ? &own.split_backward_costs() : nullptr, form_, before);
  }
}

/// Returns the cost of a multi-token layer with the recomputation of a chunk's layers.
const BlockPairCost& PipelinePricer::multi_token(const ModelBlockCosts& blocks,
                                                 std::int64_t chunk) const {
  const ModelChunkLayerCounts& content = contents_[static_cast<std::size_t>(chunk)];
  return blocks.multi_token.cost_at_place(content.recomputed_place).cost;
}

/// Adds a block at an end of the model after the blocks that the chunk has so far.
void PipelinePricer::add_end(ModelChunkCost& chunk, PipelinePositionCost& stage,
                             const BlockPairCost& cost,
                             const step::ModelBlockParameterCounts& size) const {
  const KeptBlockBytes before{.forward = chunk.forward.retained_bytes};
  chunk.add(cost, nullptr, form_, 1);
  chunk.raise_memory_peaks_to_moment(cost, nullptr, form_, before);
  stage.size += size;
  stage.blocks.keep(size);
  ++stage.units;
  if (size.has_trained_parameters()) ++stage.trained_units;
}

/// Adds multi-token layers and head, if the chunk has them.
void PipelinePricer::add_head(ModelChunkCost& chunk, PipelinePositionCost& stage,
                              const ModelBlockCosts& blocks, const plan::Plan& plan,
                              const schedule::ModelChunkPosition& place) const {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const bool first = placement.holds_embedding(place);
  const bool last = placement.holds_head(place);
  const bool split_table = step::shares_embedding_table(job_.model) &&
                           placement.embedding_pipeline_position() != placement.head_position();
  if (last) {
    add_end(chunk, stage, blocks.head, split_table ? blocks.split_head_size : blocks.head_size);
  }
  for (std::int64_t i = 0; last && i < blocks.multi_tokens; ++i) {
    add_end(chunk, stage, multi_token(blocks, placement.model_chunk_index(place)),
            split_table && i == 0 ? blocks.split_multi_token_size : blocks.multi_token.size);
    if (blocks.multi_token.size.expert > 0) ++stage.routed_units;
    if (job_.model.adjusts_router_biases(job_.model.layer_class(job_.model.layers)))
      ++stage.corrected;
  }
  if (split_table && (first || last)) {
    stage.tied_table = blocks.split_head_size.dense - blocks.head_size.dense +
                       blocks.split_multi_token_size.dense - blocks.multi_token.size.dense;
  }
  stage.head = stage.head || last;
}

/// Adds the blocks of a chunk, in their order.
void PipelinePricer::add_blocks(ModelChunkCost& chunk, PipelinePositionCost& stage,
                                const ModelBlockCosts& blocks, const plan::Plan& plan,
                                const schedule::ModelChunkPosition& place) const {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const ModelChunkLayerCounts& content =
      contents_[static_cast<std::size_t>(placement.model_chunk_index(place))];
  const bool spreads = schedule::traits_of(plan.schedule.kind).spreads_vocabulary;
  if (!spreads && placement.holds_embedding(place)) {
    add_end(chunk, stage, blocks.embedding_with(content.recompute), blocks.embedding_size);
    const bool rests =
        step::embedding_gradient_extent(job_.model) == model::LayerGradientFlow::kAbove;
    if (rests) stage.resting.add(blocks.embedding_size, 1);
  }
  add_layers(chunk, stage, blocks, content);
  keep_layer_peaks(chunk, blocks, content);
  if (!spreads) add_head(chunk, stage, blocks, plan, place);
}

/// Adds the position's parts of embedding and head. Floors count the head only, which comes between
/// the position's first forward and its last backward.
void PipelinePricer::add_joint(PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                               const plan::Plan& plan) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const auto part = [&](const std::array<ModelBlockCosts::VocabularyPartCost, 2>& parts,
                        bool at_end) {
    const ModelBlockCosts::VocabularyPartCost& own = parts[at_end ? 1 : 0];
    stage.size += own.size;
    stage.blocks.keep(own.size);
    ++stage.units;
    ++stage.trained_units;
    return own;
  };
  stage.head = placement.holds_head(stage.position);
  const ModelBlockCosts::VocabularyPartCost table =
      part(blocks.embedding_parts, placement.holds_embedding(stage.position));
  const ModelBlockCosts::VocabularyPartCost logits = part(blocks.head_parts, stage.head);
  const std::int64_t barriers = schedule::traits_of(plan.schedule.kind).barriers;
  if (barriers > 0) {
    for (const ModelBlockCosts::VocabularyPartCost* own : {&table, &logits})
      add_passes(stage, own->passes, barriers);
    return;
  }
  const BlockPairCost& embedding = table.cost;
  const BlockPairCost& head = logits.cost;
  ModelChunkCost& chunk = chunks_.front();
  chunk.embed = embedding.forward;
  chunk.embed_gradient = embedding.backward;
  chunk.predict = head.forward;
  chunk.predict.add(head.backward, 1);
  chunk.predict.retained_bytes = 0;
  stage.forward.add(chunk.predict, 1);
  stage.forward.serial_s += chunk.embed.serial_s;
  stage.backward.serial_s += chunk.embed_gradient.serial_s;
}

/// Adds the work on the vocabulary as passes, where positions do not meet. Floors count those
/// passes of a micro-batch that come before its backward on the last position, and so between the
/// first forward of each position and its last backward.
void PipelinePricer::add_passes(PipelinePositionCost& stage,
                                const std::vector<VocabularyPassCost>& passes,
                                std::int64_t barriers) {
  ModelChunkCost& chunk = chunks_.front();
  chunk.passes.resize(schedule::kVocabularyPasses);
  for (const VocabularyPassCost& pass : passes) {
    VocabularyPassCost& kept = chunk.passes[schedule::vocabulary_pass_index(pass.direction)] = pass;
    ModelBlockPassCost& own = kept.cost;
    own.retained_bytes = own.on_host_bytes = 0;
    const bool between = pass.direction == schedule::Direction::kLogits ||
                         pass.direction == schedule::Direction::kHandRows ||
                         pass.direction == schedule::Direction::kTakeGradient ||
                         (pass.direction == schedule::Direction::kLogitGradient && barriers > 1);
    if (between) {
      stage.forward.add(own, 1);
    } else {
      stage.forward.serial_s += own.serial_s;
    }
  }
}

}  // namespace stepwright::simulate
