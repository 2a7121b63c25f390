#include "stepwright/plan/overlap_table.h"

#include <gmock/gmock.h>

#include <set>
#include <string_view>

#include "stepwright/plan/canonical.h"
#include "stepwright/plan/choices/write_choices.h"
#include "tests/plan/random_plans.h"

namespace stepwright::plan {
namespace {

TEST(OverlapTable, NamesAndCodesDiffer) {
  std::set<std::string_view> names;
  std::set<std::string_view> codes;
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
  }
}

TEST(OverlapTable, OverlapOfAllLeavesOutWhatCostsMemory) {
  for (const OverlapFlagTraits& row : kOverlapFlagTable) {
    EXPECT_EQ(all_overlap_flags(true).*row.flag, !row.chosen) << row.name;
    EXPECT_FALSE(all_overlap_flags(false).*row.flag) << row.name;
  }
}

TEST(OverlapTable, CanonicalPlansHaveDefaultsWhereNothingDependsOnAFlag) {
  Dice dice(27);
  for (int i = 0; i < 500; ++i) {
    const Job job = random_good_job(dice);
    Plan plan = random_legal_plan(dice, job);
    for (const OverlapFlagTraits& row : kOverlapFlagTable) plan.overlap.*row.flag = dice.chance(2);
    const Plan settled = canonical_plan(plan, job);
    for (const OverlapFlagTraits& row : kOverlapFlagTable) {
      const bool kept = row.matters(job, settled);
      EXPECT_EQ(settled.overlap.*row.flag, (kept ? plan.overlap : OverlapFlags{}).*row.flag)
          << row.name;
    }
  }
}

TEST(OverlapTable, BlocksKeepTheirFlagsAlone) {
  const OverlapFlags of_blocks = block_relevant_overlap_flags({.gradients = false,
                                                               .parameters = false,
                                                               .tensor = true,
                                                               .tensor_gradients = false,
                                                               .context = false,
                                                               .expert = true,
                                                               .shared_experts = true,
                                                               .pipeline = false,
                                                               .defer_embedding_gradient = true});
  EXPECT_EQ(of_blocks, (OverlapFlags{.tensor = true,
                                     .tensor_gradients = false,
                                     .context = false,
                                     .expert = true,
                                     .shared_experts = true,
                                     .defer_embedding_gradient = true}));
}

TEST(OverlapTable, FloorsTakeWhatAnyListedOverlapHides) {
  const OverlapFlags listed[] = {all_overlap_flags(false),
                                 {.gradients = false, .shared_experts = true}};
  EXPECT_EQ(overlap_flags_for_lower_bounds(listed), (OverlapFlags{.shared_experts = true}));
  const OverlapFlags both[] = {{.expert = true, .shared_experts = true}};
  EXPECT_EQ(overlap_flags_for_lower_bounds(both), (OverlapFlags{.expert = true}));
  const OverlapFlags either[] = {{.expert = true}, {.shared_experts = true}};
  EXPECT_EQ(overlap_flags_for_lower_bounds(either),
            (OverlapFlags{.expert = true, .shared_experts = true}));
  EXPECT_EQ(overlap_flags_for_lower_bounds({}), OverlapFlags{});
}

TEST(OverlapTable, AHeadIsDeferredOnPipelinesThatTrainIt) {
  Job job;
  Plan plan;
  plan.overlap.defer_embedding_gradient = true;
  const auto defers = [&] { return effective_overlap_flags(job, plan).defer_embedding_gradient; };
  EXPECT_FALSE(defers());
  plan.parallel.pipeline = 2;
  EXPECT_TRUE(defers());
  job.model.frozen.embedding = true;
  EXPECT_TRUE(defers());
  job.model.tied = true;
  EXPECT_FALSE(defers());
  job.model.frozen.embedding = false;
  job.model.adapters = model::LoraAdapters{};
  EXPECT_FALSE(defers());
}

TEST(OverlapTable, FilesSayWhatCostsMemoryOnlyWhereItIsOn) {
  EXPECT_FALSE(overlap_json(OverlapFlags()).contains("defer_embedding_gradient"));
  EXPECT_TRUE(overlap_json({.defer_embedding_gradient = true}).at("defer_embedding_gradient"));
}

}  // namespace
}  // namespace stepwright::plan
