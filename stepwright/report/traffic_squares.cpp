#include "stepwright/report/traffic_squares.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/traffic/matrix.h"

namespace stepwright::report {
namespace {

/// GPUs behind one side of a square: one, a node, or twice as many until there are few enough.
std::int64_t ranks_of_square(std::int64_t ranks, std::int64_t node, std::int64_t most) {
  if (ranks <= most) return 1;
  std::int64_t each = node;
  while ((ranks + each - 1) / each > most) each *= 2;
  return each;
}

}  // namespace

nlohmann::ordered_json traffic_squares_json(const simulate::Prediction& prediction,
                                            std::int64_t most) {
  const auto& [job, plan] = prediction.planned;
  const traffic::TrafficMatrix matrix(prediction.program, plan::Grid(plan), job.cluster,
                                      plan.collectives);
  const std::int64_t each = ranks_of_square(matrix.ranks(), job.cluster.devices_per_node, most);
  std::map<std::pair<std::int64_t, std::int64_t>, double> squares;
  double total_bytes = 0;
  for (std::int64_t from = 0; from < matrix.ranks(); ++from) {
    for (const traffic::Edge& edge : matrix.row(from)) {
      squares[{from / each, edge.to / each}] += edge.bytes;
      total_bytes += edge.bytes;
    }
  }
  auto cells = nlohmann::ordered_json::array();
  for (const auto& [place, bytes] : squares) {
    if (bytes > 0) cells.push_back({place.first, place.second, bytes});
  }
  return {{"ranks", matrix.ranks()},
          {"ranks_each", each},
          {"devices_per_node", job.cluster.devices_per_node},
          {"total_bytes", total_bytes},
          {"cells", cells}};
}

}  // namespace stepwright::report
