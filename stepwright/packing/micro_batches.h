#pragma once

#include <cstdint>

#include "stepwright/packing/packs.h"

namespace stepwright::packing {

/// How much micro-batches of several sequences vary: standard deviations over means. Tokens and
/// pairs vary together if both do.
struct MicroBatchSpread {
  double tokens = 0;    ///< Relative deviation of tokens, padding included.
  double pairs = 0;     ///< Relative deviation of attention's query-key pairs.
  double skewness = 0;  ///< Skewness of the number of pairs.
  double most = 0;  ///< Largest possible number of pairs, in standard deviations above the mean.
};
MicroBatchSpread micro_batch_spread(const PackingStatistics& packs, const Packing& packing,
                                    std::int64_t sequences);

}  // namespace stepwright::packing
