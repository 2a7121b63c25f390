#pragma once

#include <cstdint>
#include <limits>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright {

/// One chunk for one micro-batch. Peaks are largest moments, with what its layers before keep.
struct ChunkCost {
  BlockCost forward{};
  BlockCost backward{};  ///< Of a cut one the data gradients, and what is not cut.
  BlockCost weight{};    ///< Of a cut one the rest.
  BlockCost whole{};     ///< Both, where some are whole beside others that are cut.
  PeakBytes forward_peak;
  PeakBytes backward_peak;
  PeakBytes weight_peak;
  PeakBytes whole_peak;
  UnitSize cut_size;  ///< Parameters of blocks whose backward is cut.
  /// Of them those of blocks whose data gradients begin to write gradients that leave: norms do,
  /// adapters do not.
  UnitSize begun_size;
  /// The bytes beyond data gradients of cut backwards: the least that a block needs beyond what
  /// it keeps for its weight gradients.
  double data_beyond_bytes = std::numeric_limits<double>::infinity();

  /// Adds `count` blocks alike; `after_bytes`: kept by others that follow the last of them.
  void add(const BlockCost& once, const BlockCost& back, double count, double after_bytes);
  void add_weight(const SplitCost& split, double count, double after_bytes);
  void add_whole(const BlockCost& once, const BlockCost& both, double count, double after_bytes);
  /// Both gradients of a micro-batch.
  [[nodiscard]] BlockCost gradients(BackwardForm form) const;
  [[nodiscard]] PeakBytes data_peak() const;
  /// The bytes of parts that may be cut or not.
  [[nodiscard]] ChunkBytes bytes() const;
};

}  // namespace stepwright
