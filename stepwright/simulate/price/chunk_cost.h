#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// What blocks keep: their forwards for their backwards, their data gradients for those of weights.
struct KeptBytes {
  double forward = 0;
  double data = 0;
};

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
  /// What the position does together with all others, said of its first chunk.
  BlockCost embed{};
  BlockCost predict{};
  BlockCost embed_gradient{};
  std::vector<PassCost> passes;  ///< Where positions do not meet, those instead, by `pass_index`.
  step::UnitSize cut_size;       ///< Parameters of blocks whose backward is cut.
  /// Of them those of blocks whose data gradients begin to write gradients that leave: norms do,
  /// adapters do not.
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
  /// What of it is done together, or in a pass.
  [[nodiscard]] const BlockCost& joint(schedule::Direction direction) const;
  /// The bytes of parts that may be cut or not.
  [[nodiscard]] ChunkBytes bytes() const;
};

}  // namespace stepwright::simulate
