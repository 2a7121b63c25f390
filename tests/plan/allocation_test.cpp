#include <gmock/gmock.h>

#include "stepwright/plan/grid.h"
#include "stepwright/plan/laws/legality.h"
#include "tests/allocations.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

TEST(BatchJobAllocation, NeitherRulesNorGridsNorLayoutsAllocate) {
  Dice dice(11);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    const Plan plan = random_plan(dice, job);
    const Plan legal = random_legal_plan(dice, job);
    const std::int64_t before = stepwright::testing::allocations();
    const std::optional<PlanLegalityRule> broken = first_broken_rule(job, plan);
    const std::optional<PlanRejection> rejected = find_plan_rejection(job, legal);
    const RankGrid grid(legal);
    std::int64_t sharers = 0;
    for (const auto& [kind, name] : kGroupNames) {
      sharers += rank_group_network_layout(job.cluster, grid.communicator_shape(kind)).sharers[0];
    }
    EXPECT_EQ(stepwright::testing::allocations(), before)
        << sharers << broken.has_value() << rejected.has_value();
  }
  EXPECT_GT(stepwright::testing::allocations(), 0);
}

}  // namespace
}  // namespace stepwright::plan
