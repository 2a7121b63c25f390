#include "stepwright/report/traffic_squares.h"

#include <gtest/gtest.h>

#include "stepwright/traffic/matrix.h"
#include "tests/report/plans.h"

namespace stepwright::report {
namespace {

using Json = nlohmann::ordered_json;

double sum_of(const Json& squares) {
  double bytes = 0;
  for (const Json& cell : squares.at("cells")) bytes += cell[2].get<double>();
  return bytes;
}

TEST(TrafficSquares, HoldAllBytesOfTheMatrixAtAnySize) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  const auto& [job, plan] = prediction.planned;
  const traffic::TrafficMatrix matrix(prediction.program, plan::RankGrid(plan), job.cluster,
                                      plan.collectives);
  double bytes = 0;
  for (std::int64_t rank = 0; rank < matrix.ranks(); ++rank) {
    for (const traffic::TrafficEdge& edge : matrix.traffic_sent_by_rank(rank)) bytes += edge.bytes;
  }
  for (const std::int64_t most : {64, 8, 3}) {
    const Json squares = traffic_matrix_json(prediction, most);
    EXPECT_NEAR(sum_of(squares), bytes, 1e-9 * bytes);
    EXPECT_NEAR(squares.at("total_bytes").get<double>(), bytes, 1e-9 * bytes);
  }
}

TEST(TrafficSquares, OfSchemesAddUpToThoseOfAll) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  for (const std::int64_t most : {64, 8}) {
    const Json squares = traffic_matrix_json(prediction, most);
    double bytes = 0;
    for (const Json& own : squares.at("schemes")) {
      EXPECT_NEAR(sum_of(own), own.at("total_bytes").get<double>(), 1e-9 * sum_of(own));
      bytes += sum_of(own);
    }
    EXPECT_GT(squares.at("schemes").size(), 1U);
    EXPECT_NEAR(bytes, sum_of(squares), 1e-9 * bytes);
  }
}

TEST(TrafficSquares, AreGpusThenNodesThenRunsOfNodes) {
  const simulate::PlanPrediction prediction = testing::large_prediction();
  EXPECT_EQ(traffic_matrix_json(prediction, 64).at("ranks_each"), 1);
  EXPECT_EQ(traffic_matrix_json(prediction, 8).at("ranks_each"), 8);
  EXPECT_EQ(traffic_matrix_json(prediction, 3).at("ranks_each"), 32);
}

}  // namespace
}  // namespace stepwright::report
