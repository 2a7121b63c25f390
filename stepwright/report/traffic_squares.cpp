#include "stepwright/report/traffic_squares.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "stepwright/step/operator.h"
#include "stepwright/traffic/matrix.h"

namespace stepwright::report {
namespace {

/// Returns the number of GPUs in a row or column of the matrix: one, a node, or twice as many until
/// there are few enough rows.
std::int64_t ranks_of_square(std::int64_t ranks, std::int64_t node, std::int64_t most) {
  if (ranks <= most) return 1;
  std::int64_t each = node;
  while ((ranks + each - 1) / each > most) each *= 2;
  return each;
}

/// The matrix of one scheme or of all traffic.
struct Squares {
  std::map<std::pair<std::int64_t, std::int64_t>, double> bytes;  ///< Bytes by sender and receiver.
  double total_bytes = 0;

  Squares(const traffic::TrafficMatrix& matrix, std::int64_t each) {
    for (std::int64_t from = 0; from < matrix.ranks(); ++from) {
      for (const traffic::TrafficEdge& edge : matrix.traffic_sent_by_rank(from)) {
        bytes[{from / each, edge.to / each}] += edge.bytes;
        total_bytes += edge.bytes;
      }
    }
  }

  [[nodiscard]] nlohmann::ordered_json cells() const {
    auto cells = nlohmann::ordered_json::array();
    for (const auto& [place, size] : bytes) {
      if (size > 0) cells.push_back({place.first, place.second, size});
    }
    return cells;
  }
};

}  // namespace

nlohmann::ordered_json traffic_matrix_json(const simulate::PlanPrediction& prediction,
                                           std::int64_t most) {
  const plan::Job& job = prediction.planned.job;
  const plan::Plan& plan = prediction.planned.plan;
  const plan::RankGrid grid(plan);
  const auto matrix = [&](std::optional<step::ParallelismScheme> only) {
    return traffic::TrafficMatrix(prediction.program, grid, job.cluster, plan.collectives, only);
  };
  const traffic::TrafficMatrix whole = matrix(std::nullopt);
  const std::int64_t each = ranks_of_square(whole.ranks(), job.cluster.devices_per_node, most);
  const Squares all(whole, each);
  auto schemes = nlohmann::ordered_json::array();
  for (const auto& [scheme, name] : step::kSchemeNames) {
    const Squares own(matrix(scheme), each);
    if (own.total_bytes > 0) {
      schemes.push_back(
          {{"scheme", name}, {"total_bytes", own.total_bytes}, {"cells", own.cells()}});
    }
  }
  return {{"ranks", whole.ranks()},
          {"ranks_each", each},
          {"devices_per_node", job.cluster.devices_per_node},
          {"total_bytes", all.total_bytes},
          {"cells", all.cells()},
          {"schemes", std::move(schemes)}};
}

}  // namespace stepwright::report
