// The README's example, refusals of `train`, and the end of a run that lost a rank.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/port.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kModel = "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256}";

TEST(Refusals, RanksThatThePlanDoesNotHave) {
  const Trained run = train(
      {.plan = plan_text_of({.model = kModel, .choices = "parallel: {data: 2}\n", .ranks = 2}),
       .options = {"--ranks 3"}});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("the plan has 2 ranks, but --ranks says 3"));
}

TEST(Refusals, WhatIsNotExecutedYet) {
  const Trained run = train(
      {.plan = plan_text_of({.model = "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, "
                                      "beyond: another thing}"})});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("model.beyond: another thing"));
}

TEST(Refusals, RotaryScalingThatIsNotExecuted) {
  const Trained run = train(
      {.plan = plan_text_of({.model = "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 256, "
                                      "rotary_scaling: {kind: longrope, factor: 4}}"})});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("model.rotary_scaling: longrope without factors"));
}

TEST(Refusals, LogitsOfSeveralRanks) {
  const Trained run = train(
      {.plan = plan_text_of({.model = kModel, .choices = "parallel: {data: 2}\n", .ranks = 2}),
       .options = {"--logits nowhere"}});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("--logits: is only for a plan of one rank; this one has 2"));
}

TEST(Refusals, WeightsThatAreNotThere) {
  const Trained run =
      train({.plan = plan_text_of({.model = kModel}), .options = {"--weights-from nowhere"}});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("nowhere/config.json"));
}

TEST(Refusals, WhatIsNotExecutedYetOfExperts) {
  const Trained run = train(
      {.plan = plan_text_of({.model = "{layers: 2, hidden: 32, heads: 4, vocab: 256, experts: "
                                      "{count: 4, top_k: 2, ffn: 16}}",
                             .job = "  dispatcher: once_per_node\n",
                             .choices = "parallel: {data: 2, expert: 2}\n",
                             .ranks = 2})});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("dispatcher: once_per_node"));
}

TEST(Refusals, TokensBeyondTheVocabulary) {
  const Trained run = train(
      {.plan = plan_text_of({.model = "{layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 100}"})});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("is not below the model's vocabulary of 100"));
}

TEST(Refusals, OptionsThatNoTrainingHas) {
  const Trained run =
      train({.plan = plan_text_of({.model = kModel}), .options = {"--decay quickly"}});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.errors, HasSubstr("one of constant, linear, cosine"));
}

TEST(Example, OfTheReadmeLearnsAndSendsWhatIsPredicted) {
  std::ifstream file("examples/tiny-llama.plan.yaml");
  const Trained run = train(
      {.plan = {std::istreambuf_iterator<char>(file), {}}, .steps = 12, .options = {"--lr 3e-3"}});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_LT(run.losses.back(), run.losses.front() - 1);
  EXPECT_THAT(run.comparison, HasSubstr("; the run differs in 0."));
}

TEST(Example, WithExpertsLearnsAndSendsWhatIsPredicted) {
  std::ifstream file("examples/tiny-moe.plan.yaml");
  const Trained run = train(
      {.plan = {std::istreambuf_iterator<char>(file), {}}, .steps = 12, .options = {"--lr 3e-3"}});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_LT(run.losses.back(), run.losses.front() - 1);
  EXPECT_THAT(run.comparison, HasSubstr("; the run differs in 0."));
  EXPECT_THAT(
      run.comparison,
      HasSubstr("all_to_all of experts.combine, forward, 131072 bytes depends on the router"));
}

TEST(Refusals, GradientsThatAreNoNumbers) {
  const Trained run = train({.plan = plan_text_of({.model = kModel, .precision = "fp32"}),
                             .steps = 30,
                             .options = {"--lr 1e30", "--clip 0"}});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("the gradients are not numbers"));
}

TEST(LostRanks, ARankThatNeverComesEndsTheRunInTime) {
  const Port port;
  ::setenv("RANK", "0", 1);
  ::setenv("WORLD_SIZE", "2", 1);
  ::setenv("MASTER_ADDR", "127.0.0.1", 1);
  ::setenv("MASTER_PORT", port.text().c_str(), 1);
  const Trained run = train(
      {.plan = plan_text_of({.model = kModel, .choices = "parallel: {data: 2}\n", .ranks = 2}),
       .options = {"--timeout 3"}});
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("stepwright-rank 0: error"));
}

/// Compares losses over twenty steps in narrower types with fp64 in one process.
TEST(Precisions, LearnAlike) {
  const auto losses = [](const char* precision, const char* choices, int ranks) {
    const Trained run =
        train({.plan = plan_text_of(
                   {.model = kModel, .precision = precision, .choices = choices, .ranks = ranks}),
               .steps = 20,
               .options = {"--lr 0.003"}});
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    return run.losses;
  };
  const char* choices = "parallel: {tensor: 2}\nsequence_parallel: true\nmicro_batch: 2\n";
  const auto exact = losses("fp64", "", 1);
  const auto single = losses("fp32", choices, 2);
  const auto half = losses("bf16", choices, 2);
  ASSERT_EQ(exact.size(), 20U);
  ASSERT_EQ(single.size(), 20U);
  ASSERT_EQ(half.size(), 20U);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(single[i], exact[i], 1e-4 * exact[i]);
    EXPECT_NEAR(half[i], exact[i], 1e-2 * exact[i]);
  }
}

}  // namespace
}  // namespace stepwright::testing
