#include "stepwright/validate/rows/metric.h"

#include <gtest/gtest.h>

#include "stepwright/validate/rows/row_plan.h"
#include "tests/validate/rows/table_rows.h"

namespace stepwright::validate {
namespace {

plan::Job job_of(const PublishedRunRow& row) {
  return std::get<TableRowPlan>(job_and_plan_of_row(row)).planned.job;
}

double seconds(const PublishedRunRow& row) {
  return std::get<double>(measured_step_s(row, job_of(row)));
}

TEST(Metric, SecondsAreTaken) { EXPECT_DOUBLE_EQ(seconds(small_row()), 0.5); }

TEST(Metric, TokensPerSecondAndGpuByHand) {
  PublishedRunRow row = small_row();
  row.metric = "tokens_per_s_per_gpu";
  row.measured = 4096;
  // 16 sequences of 1,024 tokens on 8 GPUs: 2,048 tokens each.
  EXPECT_DOUBLE_EQ(seconds(row), 0.5);
}

TEST(Metric, HardwareFlopsByHand) {
  PublishedRunRow row = small_row();
  row.flops = "hardware";
  // 96 * 16,384 tokens * 4 * 1,024^2 * (1 + 1/6 + 51,200 / 65,536)
  const double by_hand = 96.0 * 16384 * 4 * 1048576 * (1 + 1.0 / 6 + 0.78125);
  EXPECT_DOUBLE_EQ(published_step_flops(FlopCountingMethod::kHardware, job_of(row)), by_hand);
  row.metric = "tflops_per_gpu";
  row.measured = 100;
  EXPECT_DOUBLE_EQ(seconds(row), by_hand / 100e12 / 8);
}

TEST(Metric, AHalvedMaskLeavesOutHalfTheAttention) {
  const plan::Job job = job_of(small_row());
  const double full = published_step_flops(FlopCountingMethod::kModel, job);
  // 4 layers of 6 * s * h per token and layer, of 12 in all.
  EXPECT_DOUBLE_EQ(full - published_step_flops(FlopCountingMethod::kCausal, job),
                   16384.0 * 4 * 6 * 1024 * 1024);
}

TEST(Metric, UtilisationMayBeAPercentage) {
  PublishedRunRow row = small_row();
  row.metric = "mfu";
  row.measured = 0.4;
  const double share = seconds(row);
  row.measured = 40;
  EXPECT_DOUBLE_EQ(seconds(row), share);
}

TEST(Metric, SkipsWhatItDoesNotKnow) {
  PublishedRunRow row = small_row();
  const plan::Job job = job_of(row);
  row.metric = "mfu";
  row.flops = "many";
  EXPECT_EQ(std::get<SkippedRowReason>(measured_step_s(row, job)).reason, "flops: many");
  row.flops = "";
  row.metric = "loss";
  EXPECT_EQ(std::get<SkippedRowReason>(measured_step_s(row, job)).reason, "metric: loss");
  row.measured.reset();
  EXPECT_EQ(std::get<SkippedRowReason>(measured_step_s(row, job)).reason, "nothing measured");
}

}  // namespace
}  // namespace stepwright::validate
