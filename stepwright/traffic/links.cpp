#include "stepwright/traffic/links.h"

namespace stepwright::traffic {

collective::LinkLoads bytes_over_each_link(const TrafficMatrix& matrix,
                                           const cluster::Cluster& cluster) {
  collective::LinkByteCounter links(cluster, matrix.ranks());
  for (std::int64_t from = 0; from < matrix.ranks(); ++from) {
    for (const TrafficEdge& edge : matrix.traffic_sent_by_rank(from))
      links.add(from, edge.to, edge.bytes);
  }
  return links.loads();
}

}  // namespace stepwright::traffic
