#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Bytes that blocks keep: by their forwards for their backwards, by their data gradients for the
/// weight gradients.
struct KeptBytes {
  double forward = 0;
  double data = 0;
};

/// One chunk for one micro-batch. Peaks are largest moments, with what its layers before keep.
struct ChunkCost {
  BlockCost forward{};
  /// Data gradients of cut backwards, and all of backwards that are not cut.
  BlockCost backward{};
  BlockCost weight{};  ///< Weight gradients of cut backwards.
  BlockCost whole{};   ///< Whole backwards, where some are whole beside others that are cut.
  PeakBytes forward_peak;
  PeakBytes backward_peak;
  PeakBytes weight_peak;
  PeakBytes whole_peak;
  /// Work that the position does together with all others; set in its first chunk.
  BlockCost embed{};
  BlockCost predict{};
  BlockCost embed_gradient{};
  std::vector<PassCost> passes;  ///< Passes by `pass_index`, where positions do not meet.
  step::UnitSize cut_size;       ///< Parameters of blocks whose backward is cut.
  /// The part of `cut_size` in blocks whose data gradients begin to write gradients that leave:
  /// norms do, adapters do not.
  step::UnitSize begun_size;
  /// The bytes beyond data gradients of cut backwards: the least that a block needs beyond what
  /// it keeps for its weight gradients.
  double data_beyond_bytes = std::numeric_limits<double>::infinity();

  /// Adds `count` blocks alike; `split`: their backward where it is cut, else null.
  void add(const BlockPairCost& cost, const SplitCost* split, schedule::BackwardForm form,
           double count);
  /// Takes the moments of a block into account, beside what others keep that come before it.
  void keep_peaks(const BlockPairCost& cost, const SplitCost* split, schedule::BackwardForm form,
                  const KeptBytes& before);
  /// Both gradients of a micro-batch.
  [[nodiscard]] BlockCost gradients(schedule::BackwardForm form) const;
  [[nodiscard]] PeakBytes data_peak() const;
  /// Cost of a direction that positions do together, or in a pass.
  [[nodiscard]] const BlockCost& joint(schedule::Direction direction) const;
  /// The bytes of parts that may be cut or not.
  [[nodiscard]] ChunkBytes bytes() const;
};

}  // namespace stepwright::simulate
