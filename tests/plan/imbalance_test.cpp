// Loads of expert-parallel ranks, and how a job states them.
#include <gmock/gmock.h>

#include <fstream>

#include "stepwright/plan/files.h"
#include "stepwright/plan/job.h"
#include "tests/folder.h"
#include "tests/plan/refusal.h"

namespace stepwright::plan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Job loaded_job(
    const std::filesystem::path& folder, const std::string& imbalance,
    const std::string& model =
        "{layers: 1, hidden: 8, heads: 2, vocab: 10, experts: {count: 4, top_k: 2, ffn: 5}}") {
  const std::string text = "stepwright: job/2\nmodel: " + model +
                           "\ncluster: {profile: dgx-h100, nodes: 1}\n"
                           "batch: {sequences: 8, length: 16}\nimbalance: " +
                           imbalance + "\n";
  return read_job(YamlJsonDocument::parse(text, "job.yaml"), folder);
}

std::string refused_load(const std::string& imbalance) {
  const Folder folder;
  return refusal_of(ErrorKind::kInput, [&] { loaded_job(folder.path(), imbalance); });
}

std::vector<double> tokens_of(const std::string& name, const std::string& text) {
  const Folder folder;
  std::ofstream(folder.path() / name) << text;
  return loaded_job(folder.path(), "{file: " + name + "}").expert_tokens;
}

std::string refused_file(const std::string& name, const std::string& text) {
  return refusal_of(ErrorKind::kInput, [&] { tokens_of(name, text); });
}

/// 8 tokens to each of 4 experts: of two ranks, they have 6 and 2; of four ranks, 5, 1, 2 and 0.
TEST(BusiestLoad, IsTheLargestSumOfARankOverTheMean) {
  const Folder folder;
  const Job job = loaded_job(folder.path(), "[5, 1, 2, 0]");
  EXPECT_EQ(busiest_expert_rank_load(job, 1), 1);
  EXPECT_EQ(busiest_expert_rank_load(job, 2), 6.0 / 4);
  EXPECT_EQ(busiest_expert_rank_load(job, 4), 5.0 / 2);
}

TEST(BusiestLoad, OfANumberIsThatOfEveryDegree) {
  const Folder folder;
  const Job job = loaded_job(folder.path(), "1.25");
  for (const std::int64_t ranks : {2, 4}) EXPECT_EQ(busiest_expert_rank_load(job, ranks), 1.25);
  EXPECT_EQ(busiest_expert_rank_load(job, 1), 1) << "one rank has all experts";
}

/// 8 tokens to 4 experts, 2 on average: no expert accepts more than the capacity factor allows.
TEST(CapacityShare, IsWhatExpertsTakeOfWhatComes) {
  const Folder folder;
  Job job = loaded_job(folder.path(), "[5, 1, 2, 0]");
  EXPECT_EQ(expert_capacity_row_share(job), 1) << "no bound";
  job.capacity_factor = 1;
  EXPECT_EQ(expert_capacity_row_share(job), (2 + 1 + 2 + 0) / 8.0);
  EXPECT_EQ(busiest_expert_rank_load(job, 4), 2 / (5.0 / 4))
      << "two rows, over the mean of what is left";
  job.capacity_factor = 2;
  EXPECT_EQ(expert_capacity_row_share(job), (4 + 1 + 2 + 0) / 8.0);
  job.pad_to_capacity = true;
  EXPECT_EQ(expert_capacity_row_share(job), 2);
  EXPECT_EQ(busiest_expert_rank_load(job, 4), 1) << "padded experts are alike";
  job.expert_tokens.clear();
  job.pad_to_capacity = false;
  EXPECT_EQ(expert_capacity_row_share(job), 1);
}

TEST(BusiestLoad, OfAModelWithoutExpertsIsEven) {
  const Folder folder;
  const Job job =
      loaded_job(folder.path(), "2", "{layers: 1, hidden: 8, heads: 2, vocab: 10, ffn: 12}");
  EXPECT_EQ(busiest_expert_rank_load(job, 1), 1);
}

TEST(ExpertTokens, AreReadFromFilesOfManyForms) {
  const auto expected = ElementsAre(5, 1, 2, 0);
  EXPECT_THAT(tokens_of("loads.json", "[5, 1, 2.0, 0]"), expected);
  EXPECT_THAT(tokens_of("loads.yaml", "- 5\n- 1\n- 2\n- 0\n"), expected);
  EXPECT_THAT(tokens_of("loads.txt", "5\n1\n2\n0\n"), expected);
  EXPECT_THAT(tokens_of("loads.csv", "5, 1, 2, 0\n"), expected);
  EXPECT_THAT(tokens_of("loads.csv", "layer,tokens\n3,5\n3,1\n3,2\n3,0\n"), expected);
  EXPECT_THAT(tokens_of("loads.csv", "tokens,expert\n2,2\n5,0\n0,3\n1,1\n"), expected);
}

TEST(ExpertTokens, StandInPlanFiles) {
  const Folder folder;
  std::ofstream(folder.path() / "loads.txt") << "5\n1\n2\n0.5\n";
  const Job job = loaded_job(folder.path(), "{file: loads.txt}");
  Plan plan;
  plan.parallel.data = 8;
  const PlannedJob planned{job, plan};
  const PlannedJob again = read_plan(YamlJsonDocument::parse(plan_yaml(planned), "plan.yaml"), {});
  EXPECT_EQ(again.job.expert_tokens, job.expert_tokens);
}

TEST(ExpertTokens, ThatSayNothingAreRefused) {
  EXPECT_THAT(refused_load("[1, 2, 3]"),
              HasSubstr("imbalance: must have a number for each of the 4 experts, not 3"));
  EXPECT_THAT(refused_load("[]"), HasSubstr("for each of the 4 experts, not 0"));
  EXPECT_THAT(refused_load("[0, 0, 0, 0]"), HasSubstr("must not be 0 for every expert"));
  EXPECT_THAT(refused_load("[1, -2, 3, 4]"),
              HasSubstr("imbalance.1: must be a number from 0 to 1e+18; it is -2"));
  EXPECT_THAT(refused_load("[1, many, 3, 4]"), HasSubstr("imbalance.1: must be a number"));
  EXPECT_THAT(refused_load("{tokens: 3}"), HasSubstr("unknown key 'tokens'"));
  EXPECT_THAT(refused_load("{file: nowhere.csv}"), HasSubstr("nowhere.csv"));
  const Folder folder;
  EXPECT_THAT(refusal_of(ErrorKind::kInput,
                         [&] {
                           loaded_job(folder.path(), "[1, 2]",
                                      "{layers: 1, hidden: 8, heads: 2, vocab: 10, ffn: 12}");
                         }),
              HasSubstr("has no experts"));
}

TEST(ExpertTokens, OfDamagedFilesAreRefused) {
  EXPECT_THAT(refused_file("loads.csv", "5\n1\n-2\n0\n"),
              AllOf(HasSubstr("loads.csv:3"), HasSubstr("must be a number from 0 to 1e+18")));
  EXPECT_THAT(refused_file("loads.csv", "experts,tokens\n0,1\n"),
              HasSubstr("loads.csv:1: unknown column 'experts'; did you mean 'expert'?"));
  EXPECT_THAT(refused_file("loads.csv", "expert,load\n0,1\n"),
              HasSubstr("must have a column 'tokens'"));
  EXPECT_THAT(refused_file("loads.csv", "expert,tokens\n0,1\n0,2\n1,1\n2,1\n"),
              AllOf(HasSubstr("loads.csv:3"), HasSubstr("each of 0 to 3 once")));
  EXPECT_THAT(refused_file("loads.json", "{\"tokens\": [1]}"), HasSubstr("must be a list"));
  EXPECT_THAT(refused_file("loads.txt", "1\n2\n"), HasSubstr("each of the 4 experts, not 2"));
}

}  // namespace
}  // namespace stepwright::plan
