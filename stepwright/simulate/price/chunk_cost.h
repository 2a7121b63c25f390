#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Activation bytes that blocks (layers, embedding, head) keep for one micro-batch: `forward` from
/// the forward to the backward, `data` from the data gradient to the weight gradient.
struct KeptBlockBytes {
  double forward = 0;
  double data = 0;
};

/// Seconds and bytes of one model chunk on a pipeline rank, for one micro-batch. A peak is the
/// largest number of bytes at any moment of the chunk's blocks, including what earlier layers keep.
struct ModelChunkCost {
  ModelBlockPassCost forward{};
  /// Cost of the data gradients if the backward is split into data and weight gradients; else of
  /// the whole backward.
  ModelBlockPassCost backward{};
  /// Cost of the weight gradients if the backward is split into data and weight gradients; else 0.
  ModelBlockPassCost weight{};
  /// Cost of a whole backward, in schedules that split only some backwards into data and weight
  /// gradients.
  ModelBlockPassCost whole{};
  PeakBytes forward_peak;
  PeakBytes backward_peak;
  PeakBytes weight_peak;
  PeakBytes whole_peak;
  /// Cost of looking up embeddings on all pipeline ranks at the same time, if they share the
  /// vocabulary; set only in the first chunk of a rank.
  ModelBlockPassCost embed{};
  ModelBlockPassCost predict{};
  ModelBlockPassCost embed_gradient{};
  /// Costs of passes over the vocabulary, by `vocabulary_pass_index`, if pipeline ranks share the
  /// vocabulary and run these passes each on its own; else empty.
  std::vector<VocabularyPassCost> passes;
  /// Parameter counts of the blocks whose backward is split into data and weight gradients.
  step::ModelBlockParameterCounts cut_size;
  /// Parameter counts of the blocks, among those of `cut_size`, whose data-gradient pass already
  /// computes some parameter gradients (those of norms); blocks that train adapters only are left
  /// out.
  step::ModelBlockParameterCounts begun_size;
  /// Least bytes, over the blocks with a backward split into data and weight gradients, that the
  /// data gradient needs at its peak beyond the bytes kept for the weight gradient.
  double data_beyond_bytes = std::numeric_limits<double>::infinity();

  /// Adds to the chunk the cost of `count` equal blocks. `split`: cost of their backward split into
  /// data and weight gradients; null: it is not split.
  void add(const BlockPairCost& cost, const SplitBackwardCost* split,
           schedule::BackwardSplitting form, double count);
  /// Raises the chunk's peak bytes to those of one block, if these are higher. `before`: activation
  /// bytes that the blocks before it keep.
  void raise_memory_peaks_to_moment(const BlockPairCost& cost, const SplitBackwardCost* split,
                                    schedule::BackwardSplitting form, const KeptBlockBytes& before);
  /// Returns the cost of the backward of one micro-batch: data and weight gradients together.
  [[nodiscard]] ModelBlockPassCost whole_backward_cost(schedule::BackwardSplitting form) const;
  [[nodiscard]] PeakBytes data_peak() const;
  /// Returns the cost of one direction of work on the vocabulary: a pass that a pipeline rank runs
  /// on its own, or work that all pipeline ranks do together.
  [[nodiscard]] const ModelBlockPassCost& vocabulary_pass_cost(schedule::Direction direction) const;
  /// Returns the activation bytes of the chunk for one micro-batch: those kept for the backward,
  /// and those needed in addition while it runs. Covers whole and split backwards.
  [[nodiscard]] ModelChunkActivationBytes bytes() const;
};

}  // namespace stepwright::simulate
