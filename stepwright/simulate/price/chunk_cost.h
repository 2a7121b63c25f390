#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Bytes that blocks keep: `forward` from forward to backward, `data` from the data gradient to the
/// weight gradient.
struct KeptBytes {
  double forward = 0;
  double data = 0;
};

/// The cost of one chunk for one micro-batch. A peak is the largest moment of its blocks, with the
/// bytes that the layers before keep.
struct ChunkCost {
  BlockCost forward{};
  /// Data gradients of backwards that are cut, and all of backwards that are not.
  BlockCost backward{};
  BlockCost weight{};  ///< Weight gradients of cut backwards.
  BlockCost whole{};   ///< Whole backwards, in schedules that cut some backwards and not others.
  PeakBytes forward_peak;
  PeakBytes backward_peak;
  PeakBytes weight_peak;
  PeakBytes whole_peak;
  /// Work on the vocabulary that the position does together with all others; set in the position's
  /// first chunk only.
  BlockCost embed{};
  BlockCost predict{};
  BlockCost embed_gradient{};
  /// Passes over the vocabulary by `pass_index`, in schedules whose positions do them apart.
  std::vector<PassCost> passes;
  step::UnitSize cut_size;  ///< Parameters of the blocks whose backward is cut.
  /// The part of `cut_size` in blocks whose data gradient already writes some of the gradients that
  /// are reduced: blocks with norms do, blocks with adapters only do not.
  step::UnitSize begun_size;
  /// Least bytes, over the blocks, that a cut backward's data gradient needs beyond the bytes that
  /// are kept for the weight gradient.
  double data_beyond_bytes = std::numeric_limits<double>::infinity();

  /// Adds `count` equal blocks; `split`: their backward where it is cut, else null.
  void add(const BlockPairCost& cost, const SplitCost* split, schedule::BackwardForm form,
           double count);
  /// Raises the peaks to those of a block; `before`: bytes kept by the blocks before it.
  void keep_peaks(const BlockPairCost& cost, const SplitCost* split, schedule::BackwardForm form,
                  const KeptBytes& before);
  /// Returns the cost of both gradients of a micro-batch.
  [[nodiscard]] BlockCost gradients(schedule::BackwardForm form) const;
  [[nodiscard]] PeakBytes data_peak() const;
  /// Returns the cost of a direction that all positions do together, or of a pass.
  [[nodiscard]] const BlockCost& joint(schedule::Direction direction) const;
  /// Returns the bytes of the chunk, whether its backward is cut or not.
  [[nodiscard]] ChunkBytes bytes() const;
};

}  // namespace stepwright::simulate
