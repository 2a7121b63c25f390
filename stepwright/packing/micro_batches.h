#pragma once

#include <cstdint>

#include "stepwright/packing/packs.h"

namespace stepwright::packing {

/// How micro-batches of some sequences each differ from the mean one: standard deviations over
/// means. Both move together where both do.
struct MicroBatchSpread {
  double tokens = 0;    ///< Spread of rows, padding included.
  double pairs = 0;     ///< Spread of the query-key pairs of attention.
  double skewness = 0;  ///< Skewness of the pairs.
  double most = 0;      ///< The largest pairs there can be, in deviations above the mean.
};
MicroBatchSpread micro_batch_spread(const Packs& packs, const Packing& packing,
                                    std::int64_t sequences);

}  // namespace stepwright::packing
