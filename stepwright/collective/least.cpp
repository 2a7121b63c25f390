#include "stepwright/collective/least.h"

#include <algorithm>

namespace stepwright::collective {

CollectiveTimeLowerBounds collective_time_lower_bounds(CollectiveOperation collective,
                                                       const GroupLinkRates& links,
                                                       double payload_bytes) {
  const double m = links.members;
  const double n = links.nodes;
  const double sent = (collective == CollectiveOperation::kAllReduce ? 2 : 1) * payload_bytes;
  const double inside_s = (m - 1) / m * sent * links.inside_s_per_byte;
  if (links.nodes == 1) return {inside_s, inside_s};
  const double rail_s = (n - 1) / (n * m) * sent * links.rail_s_per_byte;
  CollectiveTimeLowerBounds least{std::max(rail_s, inside_s), rail_s};
  if (links.members == 1 || links.inside_s_per_byte <= 0 || links.rail_s_per_byte <= 0) {
    return {least.levels_s, least.levels_s};
  }
  const double together = 1 / links.inside_s_per_byte + 1 / links.rail_s_per_byte;
  least.any_s = std::max(rail_s, (n * m - 1) / (n * m) * sent / together);
  return least;
}

}  // namespace stepwright::collective
