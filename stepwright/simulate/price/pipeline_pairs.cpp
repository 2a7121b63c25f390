// Turns of a pipeline in which a forward runs beside a backward.
#include <algorithm>
#include <numeric>

#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pipeline_cost.h"

namespace stepwright::simulate {

struct PipelinePricer::PairedForwardTurn {
  double seconds = 0;
  /// Computation of two layers side by side, which cannot start before both inputs have arrived.
  double least_s = 0;
  PeakBytes peak;          ///< Peak above the bytes that waited before the pair.
  double alive_bytes = 0;  ///< Bytes alive above those that waited before the pair.

  /// Adds a block that frees the bytes that another block has kept for it.
  void run(const ModelBlockPassCost& block, double freed_bytes) {
    seconds += block.seconds;
    peak.raise_peak_bytes(block.peak, alive_bytes - freed_bytes);
    alive_bytes += block.retained_bytes - freed_bytes;
  }
};

/// Adds the layers of a chunk's forward beside those of another chunk's backward, the first beside
/// the last; surplus layers of either run alone. If a forward recomputes differently from its
/// backward, the peak of both together is not known.
void PipelinePricer::add_layers(PairedForwardTurn& turn, const ModelBlockCosts& blocks,
                                std::int64_t forward, std::int64_t backward,
                                schedule::Direction direction) const {
  const auto at = [](std::int64_t chunk) { return static_cast<std::size_t>(chunk); };
  const auto classes_of = [&](std::int64_t chunk) {
    return layers_.class_of.begin() +
           std::accumulate(split_.begin(), split_.begin() + chunk, std::int64_t{0});
  };
  const std::int64_t ahead = split_[at(forward)];
  const std::int64_t back = split_[at(backward)];
  const auto first = classes_of(forward);
  const auto behind = classes_of(backward) + back;
  const ModelChunkLayerCounts& own_content = contents_[at(forward)];
  const ModelChunkLayerCounts& other_content = contents_[at(backward)];
  for (std::int64_t i = 0; i < std::max(ahead, back); ++i) {
    const std::size_t kind = other_content.cost_index_of_layer(back - 1 - i);
    const std::size_t ahead_kind = own_content.cost_index_of_layer(i);
    if (i >= back) {
      turn.run(blocks.layers[first[i]].cost_at_place(ahead_kind).cost.forward, 0);
      continue;
    }
    const std::size_t which = behind[-1 - i];
    const ModelBlockCosts::RecomputedLayerCost& other = blocks.layers[which].cost_at_place(kind);
    const ModelBlockPassCost& gradients = other.backward_cost_of_direction(direction);
    const double freed_bytes = direction == schedule::Direction::kWeightGradient
                                   ? other.split_backward_costs().data.retained_bytes
                                   : other.cost.forward.retained_bytes;
    if (i >= ahead) {
      turn.run(gradients, freed_bytes);
      continue;
    }
    const ModelBlockCosts::Layer& own = blocks.layers[first[i]];
    const ModelBlockPassCost& pair = own.cost_at_place(kind).pairs.of(direction)[which];
    turn.seconds += pair.seconds;
    turn.least_s += pair.compute_s;
    if (kind == ahead_kind) turn.peak.raise_peak_bytes(pair.peak, turn.alive_bytes - freed_bytes);
    turn.alive_bytes += own.cost_at_place(ahead_kind).cost.forward.retained_bytes +
                        gradients.retained_bytes - freed_bytes;
  }
}

/// Returns a turn with layers side by side, and embedding and head alone, in the order of the step
/// (`step/pair_sequence.cpp`).
PipelinePricer::PairedForwardTurn PipelinePricer::pair_turn(
    const ModelBlockCosts& blocks, const plan::Plan& plan,
    const schedule::ModelChunkPosition& forward, const schedule::ModelChunkPosition& backward,
    schedule::Direction direction) const {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const BlockPairCost& embedding =
      blocks.embedding_with(plan::recompute_of_pipeline_rank(plan.recompute, forward.position));
  const auto multi_tokens = [&](const schedule::ModelChunkPosition& place, const auto& run) {
    for (std::int64_t i = 0; i < blocks.multi_tokens; ++i) {
      run(multi_token(blocks, placement.model_chunk_index(place)));
    }
  };
  const auto back = [](PairedForwardTurn& turn, const BlockPairCost& block) {
    turn.run(block.backward, block.forward.retained_bytes);
  };
  const bool ends = direction != schedule::Direction::kWeightGradient;
  PairedForwardTurn turn;
  if (ends && placement.holds_head(backward)) {
    multi_tokens(backward, [&](const BlockPairCost& block) { back(turn, block); });
    back(turn, blocks.head);
  }
  if (placement.holds_embedding(forward)) turn.run(embedding.forward, 0);
  add_layers(turn, blocks, placement.model_chunk_index(forward),
             placement.model_chunk_index(backward), direction);
  if (ends && placement.holds_embedding(backward)) back(turn, embedding);
  if (placement.holds_head(forward)) {
    turn.run(blocks.head.forward, 0);
    multi_tokens(forward, [&](const BlockPairCost& block) { turn.run(block.forward, 0); });
  }
  return turn;
}

/// Sets the seconds and peaks of turns of two parts.
void PipelinePricer::set_pairs(const ModelBlockCosts& blocks, const plan::Plan& plan,
                               std::int64_t position) {
  const std::int64_t chunks = plan::model_chunk_placement(plan).chunks();
  const auto at = static_cast<std::size_t>(position);
  pair_peaks_.assign(static_cast<std::size_t>(chunks), {});
  for (std::int64_t forward = 0; forward < chunks; ++forward) {
    const auto own = static_cast<std::size_t>(forward);
    const auto add = [&](schedule::Direction direction, auto list) {
      for (std::int64_t backward = 0; backward < chunks; ++backward) {
        const PairedForwardTurn turn =
            pair_turn(blocks, plan, {position, forward}, {position, backward}, direction);
        list(turn_seconds_.parts[at][own].beside).push_back(turn.seconds);
        list(turn_floors_.parts[at][own].beside).push_back(turn.least_s);
        list(pair_peaks_[own]).push_back(turn.peak);
      }
    };
    add(schedule::Direction::kBackward, [](auto& beside) -> auto& { return beside.backward; });
    if (!schedule::traits_of(plan.schedule.kind).braids) continue;
    add(schedule::Direction::kDataGradient, [](auto& beside) -> auto& { return beside.data; });
    add(schedule::Direction::kWeightGradient, [](auto& beside) -> auto& { return beside.weight; });
  }
}

}  // namespace stepwright::simulate
