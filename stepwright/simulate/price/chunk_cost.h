#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Bytes that blocks keep for later passes: `forward` from forward to backward, `data` from the
/// data gradient to the weight gradient.
struct KeptBlockBytes {
  double forward = 0;
  double data = 0;
};

/// Seconds and bytes of one chunk of a pipeline position for one micro-batch. A peak is the largest
/// number of bytes at any moment of its blocks, with the bytes that earlier layers keep.
struct ModelChunkCost {
  ModelBlockPassCost forward{};
  /// Data gradients, if the backward is cut into data and weight gradients; else the whole
  /// backward.
  ModelBlockPassCost backward{};
  /// Weight gradients, if the backward is cut into data and weight gradients; else 0.
  ModelBlockPassCost weight{};
  /// Whole backward, in schedules that cut only some backwards into data and weight gradients.
  ModelBlockPassCost whole{};
  PeakBytes forward_peak;
  PeakBytes backward_peak;
  PeakBytes weight_peak;
  PeakBytes whole_peak;
  /// Work on the vocabulary that all positions do together, if they share it; set in the first
  /// chunk of a position only.
  ModelBlockPassCost embed{};
  ModelBlockPassCost predict{};
  ModelBlockPassCost embed_gradient{};
  /// Passes over the vocabulary, by `vocabulary_pass_index`, in schedules in which positions that
  /// share it run these passes on their own; else empty.
  std::vector<VocabularyPassCost> passes;
  /// Parameters of the blocks whose backward is cut into data and weight gradients.
  step::ModelBlockParameterCounts cut_size;
  /// Parameters, out of `cut_size`, of blocks whose data-gradient pass already computes some
  /// parameter gradients (those of norms); blocks that train adapters only are left out.
  step::ModelBlockParameterCounts begun_size;
  /// Least bytes, over the blocks with a cut backward, that the data gradient needs at its peak
  /// beyond the bytes kept for the weight gradient.
  double data_beyond_bytes = std::numeric_limits<double>::infinity();

  /// Adds the cost of `count` equal blocks. `split`: their backward cut into data and weight
  /// gradients; null: it is not cut.
  void add(const BlockPairCost& cost, const SplitBackwardCost* split,
           schedule::BackwardSplitting form, double count);
  /// Raises the peaks to those of a block. `before`: bytes that the blocks before it keep.
  void raise_memory_peaks_to_moment(const BlockPairCost& cost, const SplitBackwardCost* split,
                                    schedule::BackwardSplitting form, const KeptBlockBytes& before);
  /// Returns the cost of the backward of one micro-batch: data and weight gradients together.
  [[nodiscard]] ModelBlockPassCost whole_backward_cost(schedule::BackwardSplitting form) const;
  [[nodiscard]] PeakBytes data_peak() const;
  /// Returns the cost of a vocabulary pass, or of other work that all positions do together, by its
  /// direction.
  [[nodiscard]] const ModelBlockPassCost& vocabulary_pass_cost(schedule::Direction direction) const;
  /// Returns the bytes that the chunk keeps and needs, for whole and for cut backwards.
  [[nodiscard]] ModelChunkActivationBytes bytes() const;
};

}  // namespace stepwright::simulate
