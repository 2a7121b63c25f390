#pragma once

#include <cstdint>

#include "stepwright/packing/packs.h"

namespace stepwright::packing {

/// How much micro-batches of several packed sequences differ from each other, as standard
/// deviations divided by means.
struct MicroBatchVariation {
  /// Standard deviation of a micro-batch's tokens (padding included) divided by their mean.
  double tokens = 0;
  /// Standard deviation of a micro-batch's query-key pairs in attention divided by their mean.
  double pairs = 0;
  double skewness = 0;  ///< Skewness of the distribution of query-key pairs per micro-batch.
  /// Largest possible number of query-key pairs of a micro-batch, in standard deviations above the
  /// mean.
  double most = 0;
};
MicroBatchVariation micro_batch_spread(const PackingStatistics& packs, const Packing& packing,
                                       std::int64_t sequences);

}  // namespace stepwright::packing
