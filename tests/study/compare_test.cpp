#include "stepwright/study/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stepwright/plan/files.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::study {
namespace {

class SearchComparisonTest : public testing::TestWithParam<const char*> {};

TEST_P(SearchComparisonTest, NobodyChoosesBetterThanTheTuner) {
  const SearchMethodComparison comparison = compare_searches(plan::load_job(GetParam()));
  ASSERT_EQ(comparison.choices.size(), 3U);
  const SearchMethodChoice& ours = comparison.choices.front();
  ASSERT_TRUE(ours.plan);
  for (const SearchMethodChoice& choice : comparison.choices) {
    ASSERT_TRUE(choice.plan) << choice.by;
    EXPECT_FALSE(plan::find_plan_rejection(comparison.job, *choice.plan)) << choice.by;
    EXPECT_LE(ours.step_time_s, 1.001 * choice.step_time_s) << choice.by;
    EXPECT_GT(choice.evaluated, 0) << choice.by;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, SearchComparisonTest,
                         testing::Values("examples/mixtral-8x7b.yaml", "examples/long-context.yaml",
                                         "examples/inline-model.yaml"));

TEST(SearchMethodComparison, SaysSoWhenNothingFits) {
  plan::Job job = plan::load_job("examples/inline-model.yaml");
  job.cluster.device.memory_bytes = 1e8;
  const auto json = search_comparison_json(compare_searches(job));
  ASSERT_EQ(json["choices"].size(), 3U);
  for (const auto& choice : json["choices"]) EXPECT_FALSE(choice.contains("plan"));
}

}  // namespace
}  // namespace stepwright::study
