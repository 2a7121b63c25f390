// Findings from losses in training logs.
#include "stepwright/diagnose/loss.h"

#include <gmock/gmock.h>

#include <cmath>

namespace stepwright::diagnose {
namespace {

using ::testing::HasSubstr;

TEST(Loss, ReadsTheLinesOfEachProgram) {
  const auto megatron = read_loss_line(
      " iteration  7/ 10 | elapsed time per iteration (ms): 12.5 | lm loss: 2.345E+00 | loss "
      "scale: "
      "1.0 | grad norm: nan | number of nan iterations: 0 |");
  ASSERT_TRUE(megatron);
  EXPECT_EQ(megatron->number, 7);
  EXPECT_DOUBLE_EQ(megatron->loss, 2.345);
  EXPECT_TRUE(std::isnan(megatron->norm.value()));
  const auto transformers =
      read_loss_line("{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 2e-05, 'epoch': 0.01}");
  ASSERT_TRUE(transformers);
  EXPECT_DOUBLE_EQ(transformers->loss, 0.5);
  EXPECT_DOUBLE_EQ(transformers->norm.value(), 1.25);
  const auto titan = read_loss_line("step: 10  loss:  5.1  grad_norm:  1.2  tps: 1,876");
  ASSERT_TRUE(titan);
  EXPECT_EQ(titan->number, 10);
  EXPECT_FALSE(read_loss_line("the loss: is small"));
  EXPECT_FALSE(read_loss_line("{'loss': 'none'}"));
}

std::vector<LoggedLoss> falling(std::size_t steps) {
  std::vector<LoggedLoss> losses;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    losses.push_back(
        {.number = number, .line = number + 1, .loss = 3 - 0.001 * static_cast<double>(i)});
  }
  return losses;
}

TEST(Loss, ASteadyFallIsNoFinding) {
  EXPECT_TRUE(loss_anomaly_findings(falling(200), "train.log").empty());
  EXPECT_TRUE(loss_anomaly_findings({}, "train.log").empty());
}

TEST(Loss, TheFirstThatIsNoNumber) {
  std::vector<LoggedLoss> losses = falling(50);
  losses[30].loss = NAN;
  losses[31].loss = HUGE_VAL;
  const std::vector<FaultFinding> findings = loss_anomaly_findings(losses, "train.log");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().where.line, 31);
  EXPECT_THAT(findings.front().what, HasSubstr("not a number at step 30"));
  EXPECT_THAT(findings.front().evidence.back(), HasSubstr("2 of 50"));
}

/// Losses of 2.97 before and 5.5 at the jump: 1.85 times the median.
TEST(Loss, ALeapAboveTheLossesBefore) {
  std::vector<LoggedLoss> losses = falling(60);
  losses[40].loss = 5.5;
  const std::vector<FaultFinding> findings = loss_anomaly_findings(losses, "train.log");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().where.line, 41);
  EXPECT_THAT(findings.front().what, HasSubstr("jumps to 5.5 at step 40"));
}

}  // namespace
}  // namespace stepwright::diagnose
