#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kLoopJob = R"(stepwright: job/2
model: llama-2-7b
cluster: {profile: dgx-a100-80g, nodes: 1}
batch: {sequences: 64, length: 2048}
framework: megatron-lm
)";
constexpr const char* kLoopHeader = "id,tp,pp,micro_batch,outcome,measured_metric,measured_value\n";
constexpr const char* kLoopCandidates =
    "id,tp,pp,micro_batch\n"
    "a,8,1,1\n"
    "b,4,1,1\n"
    "c,4,2,2\n"
    "d,8,1,2\n";

/// A folder with the job, its candidate plans and the runs.
class LoopPlace : public Workplace {
 public:
  explicit LoopPlace(const std::string& runs) {
    write("job.yaml", kLoopJob);
    write("candidates.csv", kLoopCandidates);
    write("runs.csv", kLoopHeader + runs);
  }
  [[nodiscard]] json answer(const std::string& more) const {
    const Outcome outcome = run("tune job.yaml --runs runs.csv --json " + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
};

TEST(MeasuredRunsOptions, WithoutRunsNamesTheExpectedBestFirst) {
  const LoopPlace place("");
  const json answer = place.answer("--candidates candidates.csv --next 4");
  EXPECT_EQ(answer["next"][0]["id"], answer["best"]["id"]);
  EXPECT_EQ(answer["next"].size(), 4U);
  EXPECT_EQ(answer["best"]["ran"], false);
  EXPECT_EQ(answer["stop"], false);
}

TEST(MeasuredRunsOptions, ARunMuchFasterThanAllOthersIsTheBest) {
  const LoopPlace place("c,4,2,2,ok,iteration_time_s,0.5\n");
  const json answer = place.answer("--candidates candidates.csv");
  EXPECT_EQ(answer["best"]["id"], "c");
  EXPECT_EQ(answer["best"]["ran"], true);
  EXPECT_NEAR(answer["best"]["expected_step_s"].get<double>(), 0.5, 1e-9);
  EXPECT_EQ(answer["runs"]["measured"], 1);
  EXPECT_GT(answer["learned"].size(), 0U);
}

TEST(MeasuredRunsOptions, SearchesAndWritesThePlanWithoutCandidates) {
  const LoopPlace place("a,8,1,1,ok,iteration_time_s,9\nb,2,1,8,oom,,\n");
  const Outcome outcome = place.run("tune job.yaml --runs runs.csv --next 2 -o plan.yaml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Plans to measure next"));
  EXPECT_EQ(place.run("predict plan.yaml").code, 0);
}

/// `diagnose --row` writes rows that `tune --runs` reads: the first with a header, a second
/// without.
TEST(MeasuredRunsOptions, TakesTheRowsThatDiagnoseWrites) {
  const LoopPlace place("");
  std::string log;
  for (int step = 1; step <= 30; ++step) {
    log += " iteration " + std::to_string(step) +
           "/ 99 | elapsed time per iteration (ms): 9000.0 | lm loss: 2.0\n";
  }
  place.write("train.log", log);
  ASSERT_EQ(place.run("tune job.yaml -o plan.yaml").code, 0);
  for (int run = 0; run < 2; ++run) {
    const Outcome added = place.run("diagnose plan.yaml train.log --row mine.csv");
    ASSERT_EQ(added.code, 0) << added.err;
    EXPECT_THAT(added.err, HasSubstr("added the run to mine.csv"));
  }
  const Outcome outcome = place.run("tune job.yaml --runs mine.csv --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  EXPECT_EQ(answer["runs"]["measured"], 2);
  EXPECT_EQ(answer["skipped"].size(), 0U);
  EXPECT_EQ(answer["predictions"][0]["measured_s"], 9.0);
  EXPECT_EQ(place.run("diagnose train.log --row mine.csv").code, 2);
}

TEST(MeasuredRunsOptions, RefusesWhatCannotBeAnswered) {
  const LoopPlace place("");
  EXPECT_EQ(place.run("tune job.yaml --next 2").code, 2);
  EXPECT_EQ(place.run("tune job.yaml --runs nowhere.csv").code, 2);
  place.write("none.csv", "id,tp\nx,3\n");
  const Outcome outcome = place.run("tune job.yaml --runs runs.csv --candidates none.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no candidate has a plan"));
}

}  // namespace
}  // namespace stepwright::cli
