#include "stepwright/plan/overlap_table.h"

#include <gmock/gmock.h>

#include <set>
#include <string_view>

#include "stepwright/plan/canonical.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

TEST(OverlapTable, NamesAndCodesDiffer) {
  std::set<std::string_view> names;
  std::set<std::string_view> codes;
  for (const OverlapRow& row : kOverlapTable) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
  }
}

TEST(OverlapTable, OverlapOfAllLeavesOutWhatCostsMemory) {
  for (const OverlapRow& row : kOverlapTable) {
    EXPECT_EQ(overlap_all(true).*row.flag, !row.chosen) << row.name;
    EXPECT_FALSE(overlap_all(false).*row.flag) << row.name;
  }
}

TEST(OverlapTable, CanonicalPlansHaveDefaultsWhereNothingDependsOnAFlag) {
  Dice dice(27);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    Plan plan = random_legal_plan(dice, job);
    for (const OverlapRow& row : kOverlapTable) plan.overlap.*row.flag = dice.chance(2);
    const Plan settled = canonical(plan, job);
    for (const OverlapRow& row : kOverlapTable) {
      const bool kept = row.matters(job, settled);
      EXPECT_EQ(settled.overlap.*row.flag, (kept ? plan.overlap : Overlap{}).*row.flag) << row.name;
    }
  }
}

TEST(OverlapTable, BlocksKeepTheirFlagsAlone) {
  const Overlap of_blocks = overlap_of_blocks({.gradients = false,
                                               .parameters = false,
                                               .tensor = true,
                                               .tensor_gradients = false,
                                               .context = false,
                                               .expert = true,
                                               .shared_experts = true,
                                               .pipeline = false});
  EXPECT_EQ(of_blocks, (Overlap{.tensor = true,
                                .tensor_gradients = false,
                                .context = false,
                                .expert = true,
                                .shared_experts = true}));
}

TEST(OverlapTable, FloorsTakeWhatAnyListedOverlapHides) {
  const Overlap listed[] = {overlap_all(false), {.gradients = false, .shared_experts = true}};
  EXPECT_EQ(overlap_in_floors(listed), (Overlap{.expert = true}));
  EXPECT_EQ(overlap_in_floors({}), Overlap{});
}

}  // namespace
}  // namespace stepwright::plan
