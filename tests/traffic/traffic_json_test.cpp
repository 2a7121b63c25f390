#include "stepwright/traffic/traffic_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stepwright::traffic {
namespace {

TEST(TrafficJson, HasTheDocumentedKeys) {
  const TrafficLedger ledger = {{{.operation = step::OperatorKind::kAllReduce,
                                  .scheme = step::ParallelismScheme::kTensor,
                                  .phase = step::Phase::kDataGradient,
                                  .group = plan::CommunicatorKind::kTensor,
                                  .group_size = 4,
                                  .payload_bytes = 100,
                                  .count = 8,
                                  .sent_bytes_per_rank = 150}}};
  EXPECT_EQ(traffic_json(ledger, 8).dump(),
            R"({"ranks":8,"messages":[{"operation":"all_reduce","scheme":"tensor",)"
            R"("phase":"backward","group":"tensor","group_size":4,"payload_bytes":100,"count":8,)"
            R"("sent_bytes_per_rank":150.0}],"totals":{"tensor":{"count":8,"payload_bytes":800,)"
            R"("sent_bytes":1200.0}},"histogram":[{"at_least_bytes":64,"count":8,)"
            R"("payload_bytes":800,"sent_bytes":1200.0}]})");
}

TEST(TrafficJson, PrintsFourPhases) {
  EXPECT_EQ(traffic_phase_name(step::Phase::kForward), "forward");
  EXPECT_EQ(traffic_phase_name(step::Phase::kDataGradient), "backward");
  EXPECT_EQ(traffic_phase_name(step::Phase::kWeightGradient), "backward");
  EXPECT_EQ(traffic_phase_name(step::Phase::kRecompute), "recompute");
  EXPECT_EQ(traffic_phase_name(step::Phase::kOptimizer), "optimizer");
}

TEST(LinksJson, LeavesOutNicsWhereThereAreNone) {
  collective::LinkLoads links;
  links.levels = {
      {.name = "nvlink", .units = 8, .busiest_unit = 3, .busiest_bytes = 7, .mean_bytes = 2}};
  EXPECT_EQ(link_traffic_json(links).dump(),
            R"({"levels":[{"name":"nvlink","units":8,"busiest_unit":3,"busiest_bytes":7.0,)"
            R"("mean_bytes":2.0}]})");
  links.nics = {.name = "nic", .units = 16};
  EXPECT_TRUE(link_traffic_json(links).contains("nics"));
}

}  // namespace
}  // namespace stepwright::traffic
