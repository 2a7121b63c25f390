#include "stepwright/collective/least.h"

#include <gtest/gtest.h>

#include "stepwright/collective/play.h"
#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

/// Two nodes of two, 4 MB: 1 MB on each rail, 2 MB inside, 3 MB to each rank in total.
TEST(Least, IsWhatAHandCounts) {
  const GroupLinkRates balanced = process_group_link_rates(switched(2, 2, 2, 1), 2, 2);
  const CollectiveTimeLowerBounds gather =
      collective_time_lower_bounds(CollectiveOperation::kAllGather, balanced, 4e6);
  EXPECT_NEAR(gather.levels_s, 2e6 / kTestNic, 1e-12);
  EXPECT_NEAR(gather.any_s, 3e6 / (2 * kTestNic), 1e-12);
  const CollectiveTimeLowerBounds both =
      collective_time_lower_bounds(CollectiveOperation::kAllReduce, balanced, 4e6);
  EXPECT_NEAR(both.levels_s, 2 * gather.levels_s, 1e-12);
  EXPECT_NEAR(both.any_s, 2 * gather.any_s, 1e-12);
  const GroupLinkRates fast_inside = process_group_link_rates(switched(2, 2, 2, 8), 2, 2);
  EXPECT_NEAR(collective_time_lower_bounds(CollectiveOperation::kAllGather, fast_inside, 4e6).any_s,
              1e6 / kTestNic, 1e-12);
  const GroupLinkRates shared = process_group_link_rates(switched(2, 2, 1, 8), 2, 2);
  EXPECT_NEAR(collective_time_lower_bounds(CollectiveOperation::kAllGather, shared, 4e6).any_s,
              2e6 / kTestNic, 1e-12);
}

TEST(Least, HasOneLevelWhereThereIsOne) {
  const GroupLinkRates node = process_group_link_rates(switched(4, 1, 1, 2), 4, 1);
  EXPECT_NEAR(collective_time_lower_bounds(CollectiveOperation::kAllGather, node, 4e6).any_s,
              3e6 / (2 * kTestNic), 1e-12);
  const GroupLinkRates single = process_group_link_rates(switched(1, 4, 1, 2), 1, 4);
  EXPECT_NEAR(collective_time_lower_bounds(CollectiveOperation::kAllGather, single, 4e6).any_s,
              3e6 / kTestNic, 1e-12);
  EXPECT_EQ(collective_time_lower_bounds(CollectiveOperation::kAllGather,
                                         process_group_link_rates(switched(1, 1, 1, 2), 1, 1), 1)
                .any_s,
            0);
}

void expect_below(const cluster::Cluster& cluster, CollectiveOperation collective) {
  const CollectiveTimeLowerBounds least =
      collective_time_lower_bounds(collective, process_group_link_rates(cluster, 4, 4), 64e6);
  EXPECT_LE(least.any_s, least.levels_s * (1 + 1e-12));
  for (const auto& [method, name] : kGeneratedCollectiveAlgorithmNames) {
    const CollectiveScheduleSpec spec{method, collective, {4, 4}, 4};
    if (reason_no_collective_schedule_exists(spec)) continue;
    EXPECT_LT(least.any_s, simulate_generated_collective(spec, cluster, {.payload_bytes = 64e6}))
        << name;
  }
}

TEST(Least, IsBelowEverySchedule) {
  for (const double ratio : {0.5, 1.0, 3.0, 9.0}) {
    for (const std::int32_t nics : {1, 4}) {
      for (const CollectiveOperation collective :
           {CollectiveOperation::kAllGather, CollectiveOperation::kReduceScatter,
            CollectiveOperation::kAllReduce}) {
        SCOPED_TRACE(testing::Message() << "ratio " << ratio << ", " << nics << " NICs");
        expect_below(switched(4, 4, nics, ratio), collective);
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::collective
