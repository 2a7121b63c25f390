#include "stepwright/collective/least.h"

#include <gtest/gtest.h>

#include "stepwright/collective/play.h"
#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

/// Two nodes of two, 4 MB: 1 MB on each rail, 2 MB inside, 3 MB to each rank in total.
TEST(Least, IsWhatAHandCounts) {
  const GroupLinkRates balanced = group_link_rates(switched(2, 2, 2, 1), 2, 2);
  const CollectiveLowerBounds gather =
      collective_lower_bounds(Collective::kAllGather, balanced, 4e6);
  EXPECT_NEAR(gather.levels_s, 2e6 / kTestNic, 1e-12);
  EXPECT_NEAR(gather.any_s, 3e6 / (2 * kTestNic), 1e-12);
  const CollectiveLowerBounds both = collective_lower_bounds(Collective::kAllReduce, balanced, 4e6);
  EXPECT_NEAR(both.levels_s, 2 * gather.levels_s, 1e-12);
  EXPECT_NEAR(both.any_s, 2 * gather.any_s, 1e-12);
  const GroupLinkRates fast_inside = group_link_rates(switched(2, 2, 2, 8), 2, 2);
  EXPECT_NEAR(collective_lower_bounds(Collective::kAllGather, fast_inside, 4e6).any_s,
              1e6 / kTestNic, 1e-12);
  const GroupLinkRates shared = group_link_rates(switched(2, 2, 1, 8), 2, 2);
  EXPECT_NEAR(collective_lower_bounds(Collective::kAllGather, shared, 4e6).any_s, 2e6 / kTestNic,
              1e-12);
}

TEST(Least, HasOneLevelWhereThereIsOne) {
  const GroupLinkRates node = group_link_rates(switched(4, 1, 1, 2), 4, 1);
  EXPECT_NEAR(collective_lower_bounds(Collective::kAllGather, node, 4e6).any_s,
              3e6 / (2 * kTestNic), 1e-12);
  const GroupLinkRates single = group_link_rates(switched(1, 4, 1, 2), 1, 4);
  EXPECT_NEAR(collective_lower_bounds(Collective::kAllGather, single, 4e6).any_s, 3e6 / kTestNic,
              1e-12);
  EXPECT_EQ(collective_lower_bounds(Collective::kAllGather,
                                    group_link_rates(switched(1, 1, 1, 2), 1, 1), 1)
                .any_s,
            0);
}

void expect_below(const cluster::Cluster& cluster, Collective collective) {
  const CollectiveLowerBounds least =
      collective_lower_bounds(collective, group_link_rates(cluster, 4, 4), 64e6);
  EXPECT_LE(least.any_s, least.levels_s * (1 + 1e-12));
  for (const auto& [method, name] : kGeneratedAlgorithmNames) {
    const ScheduleSpec spec{method, collective, {4, 4}, 4};
    if (no_schedule_reason(spec)) continue;
    EXPECT_LT(least.any_s, simulate_generated_collective(spec, cluster, {.payload_bytes = 64e6}))
        << name;
  }
}

TEST(Least, IsBelowEverySchedule) {
  for (const double ratio : {0.5, 1.0, 3.0, 9.0}) {
    for (const std::int32_t nics : {1, 4}) {
      for (const Collective collective :
           {Collective::kAllGather, Collective::kReduceScatter, Collective::kAllReduce}) {
        SCOPED_TRACE(testing::Message() << "ratio " << ratio << ", " << nics << " NICs");
        expect_below(switched(4, 4, nics, ratio), collective);
      }
    }
  }
}

}  // namespace
}  // namespace stepwright::collective
