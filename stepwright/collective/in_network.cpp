#include "stepwright/collective/in_network.h"

#include <algorithm>
#include <cmath>

namespace stepwright::collective {
namespace {

/// Times of one chunk inside a node.
struct InsideChunk {
  /// Seconds in which a chunk is summed inside the node, or passed on inside it.
  double once_s = 0;
  double pace_s = 0;  ///< Seconds from one chunk to the next if chunks are summed and passed on.
};

InsideChunk inside_chunk(cluster::InNetworkReductionSupport where, const GroupLinkRates& links,
                         double chunk_bytes) {
  const double m = links.members;
  if (links.members == 1) return {};
  if (where == cluster::InNetworkReductionSupport::kBetweenNodes) {
    const double once = (m - 1) * (links.message_s + chunk_bytes / m * links.inside_s_per_byte);
    return {once, 2 * once};
  }
  const double bytes_s = chunk_bytes * links.inside_s_per_byte;
  return {links.message_s + bytes_s, 2 * links.message_s + (m + 1) / m * bytes_s};
}

}  // namespace

double in_network_all_reduce_seconds(cluster::InNetworkReductionSupport where,
                                     const GroupLinkRates& links, double payload_bytes) {
  const bool leaves = links.nodes > 1;
  const double latency =
      (links.members > 1 ? 2 * links.inside_latency_s : 0) + (leaves ? links.network_latency_s : 0);
  double least = INFINITY;
  for (std::int32_t chunks = 1; chunks <= kMaxTriedChunksPerBlock; chunks *= 2) {
    const double chunk_bytes = payload_bytes / chunks;
    const InsideChunk inside = inside_chunk(where, links, chunk_bytes);
    const double out =
        leaves ? links.message_s + chunk_bytes / links.members * links.rail_s_per_byte : 0;
    const double first = 2 * inside.once_s + out;
    least = std::min(least, first + (chunks - 1) * std::max(out, inside.pace_s));
  }
  return links.members * links.nodes == 1 ? 0 : least + latency;
}

}  // namespace stepwright::collective
