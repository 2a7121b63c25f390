#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace stepwright::cli {
namespace {

using testing::HasSubstr;

/// Returns a table of runs of GPTs on one DGX A100 with these step times.
std::string table(const std::vector<double>& seconds) {
  std::string text =
      "id,cluster,gpus,model,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch,micro_batch,"
      "tp,pp,job,plan,measured_metric,measured_value\n";
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::size_t hidden = 2048 + 512 * i;
    text += fmt::format(
        "mine-{},dgx-a100-80g,8,GPT,8,{},16,{},51200,2048,32,2,{},1,\"{{framework: megatron-lm, "
        "model: {{base: gpt3-175b, head_dim: {}}}}}\",\"{{sharding: NNN, recompute: none}}\","
        "iteration_time_s,{}\n",
        i + 1, hidden, 4 * hidden, 1 << (i % 3), hidden / 16, seconds[i]);
  }
  return text;
}

/// Returns runs whose times are the command's own predictions, multiplied by factors.
std::string runs(const Workplace& place, const std::vector<double>& factors) {
  place.write("ones.csv", table(std::vector<double>(factors.size(), 1)));
  const auto answer = nlohmann::json::parse(place.run("validate ones.csv --json").out);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    seconds.push_back(answer["results"][i]["predicted"].get<double>() * factors[i]);
  }
  return table(seconds);
}

constexpr const char* kRunsJob = R"(stepwright: job/1
model: llama-2-7b
cluster: {profile: dgx-a100-80g, nodes: 1}
batch: {sequences: 64, length: 2048}
framework: megatron-lm
)";

double step_time(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out)["step_time_s"].get<double>();
}

TEST(FitRuns, WritesConditionsThatAJobCanName) {
  const Workplace place;
  place.write("runs.csv", runs(place, {1.3, 1.28, 1.31, 1.3, 1.29, 1.3}));
  const Outcome outcome = place.run("fit --runs runs.csv -o mine.yaml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Conditions of a100-sxm-80g under megatron-lm"));
  EXPECT_THAT(outcome.out, HasSubstr("left out"));
  std::filesystem::create_directory(place.path() / "jobs");
  place.write("jobs/job.yaml", std::string(kRunsJob) + "conditions: ../mine.yaml\n");
  place.write("job.yaml", kRunsJob);
  const Outcome tuned = place.run("tune jobs/job.yaml -o plan.yaml");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("conditions of "));
  const double calibrated = step_time(place.run("predict plan.yaml --json"));
  const Outcome plain = place.run("tune job.yaml -o plain.yaml");
  ASSERT_EQ(plain.code, 0) << plain.err;
  const double built_in = step_time(place.run("predict plain.yaml --json"));
  EXPECT_GT(calibrated, 1.15 * built_in);
  EXPECT_NEAR(step_time(place.run("predict plain.yaml --set conditions=mine.yaml --json")),
              calibrated, 0.05 * calibrated);
  for (const std::string command : {"traffic", "memory"}) {
    EXPECT_EQ(place.run(command + " plan.yaml").code, 0);
  }
  const auto validated =
      nlohmann::json::parse(place.run("validate runs.csv --conditions mine.yaml --json").out);
  EXPECT_LT(validated["mean_abs_error"].get<double>(), 0.05);
}

TEST(FitRuns, AnswersInJson) {
  const Workplace place;
  place.write("runs.csv", runs(place, {1.3, 1.28, 1.31, 1.3}));
  const Outcome outcome = place.run("fit --runs runs.csv --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(answer["constants"][0]["key"], "product_rate");
  EXPECT_EQ(answer["runs"].size(), 4U);
  EXPECT_LT(answer["mean_abs_error"]["held_out"].get<double>(),
            answer["mean_abs_error"]["built_in"].get<double>());
}

TEST(FitRuns, WritesTheConditionsAsTheyAreWhereNothingMayMove) {
  const Workplace place;
  place.write("runs.csv", runs(place, {1.3, 0.7, 1.3, 0.7, 1.3, 0.7}));
  const Outcome outcome = place.run("fit --runs runs.csv -o mine.yaml");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the conditions stay as they are"));
  const auto error = [&](const std::string& more) {
    return nlohmann::json::parse(place.run("validate runs.csv --json" + more).out)["mean_abs_error"]
        .get<double>();
  };
  EXPECT_NEAR(error(" --conditions mine.yaml"), error(""), 1e-6);
}

TEST(FitRuns, TakesOneRun) {
  const Workplace place;
  place.write("runs.csv", runs(place, {1.2}));
  EXPECT_EQ(place.run("fit --runs runs.csv -o mine.yaml").code, 0);
}

TEST(FitRuns, RefusesBadInput) {
  const Workplace place;
  place.write("few.csv", table({-1}));
  place.write("job.yaml", std::string(kRunsJob) + "conditions: nowhere.yaml\n");
  place.write("other.yaml", std::string(kRunsJob) + "conditions: job.yaml\n");
  const auto refusal = [&](const std::string& arguments) {
    const Outcome outcome = place.run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    return outcome.err;
  };
  EXPECT_THAT(refusal("fit --runs few.csv"), HasSubstr("few.csv:2: column measured_value"));
  EXPECT_THAT(refusal("fit --runs few.csv -o few.csv"), HasSubstr("few.csv"));
  EXPECT_THAT(refusal("fit --runs nowhere.csv"), HasSubstr("nowhere.csv"));
  EXPECT_THAT(refusal("fit --runs few.csv few.csv"), HasSubstr("--runs"));
  EXPECT_THAT(refusal("tune job.yaml"), HasSubstr("there is no file"));
  EXPECT_THAT(refusal("tune other.yaml"), HasSubstr("training/1"));
}

}  // namespace
}  // namespace stepwright::cli
