#include "stepwright/fit/operators/device_fit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/fit/operators/fit_target.h"

namespace stepwright::fit {
namespace {

/// Returns samples of a residual addition on an A100: 6 bytes an element at `share` of 2,039 GB/s,
/// after 4 us.
std::string residual_rows(double share) {
  std::string text = "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n";
  for (int hidden = 2048; hidden <= 8192; hidden += 1024) {
    for (int length = 1024; length <= 5120; length += 512) {
      const double us = 4 + 6.0 * 4 * length * hidden / (share * 2039e9) * 1e6;
      text += "residual_add,,4," + std::to_string(length) + "," + std::to_string(hidden) + ",,," +
              std::to_string(us) + ",\n";
    }
  }
  return text;
}

constexpr std::string_view kKernelColumns =
    "gpu,op,dtype,m,n,k,batch,seq_len,heads,kv_heads,head_dim,causal,direction,other_shape,"
    "metric,value,software\n";

/// Returns samples of a full attention on an H100: `share` of 989.4 TFLOP/s, after 12 us. `copied`:
/// includes a separate kernel that reads and writes queries, keys and values at 3,352 GB/s after 12
/// us.
std::string attention_rows(double share, bool copied, std::string_view software = "") {
  std::string text;
  for (int heads = 4; heads <= 48; heads += 4) {
    for (int length = 1024; length <= 8192; length *= 2) {
      const double us = 12 + 4.0 * length * length * heads * 128 / (share * 989.4e12) * 1e6;
      const double copy_us = 12 + 4.0 * length * 3 * heads * 128 / 3352e9 * 1e6;
      text += fmt::format(
          "H100-SXM-80GB,attention,bf16,,,,1,{},{},{},128,n,forward,{},time_us,{},{}\n", length,
          heads, heads, copied ? "copied=qkv" : "", copied ? us + copy_us : us, software);
    }
  }
  return text;
}

cost::OperatorTimeLawConstants attention_law(const std::string& text, cost::OperatorPass pass) {
  const std::vector<OperatorSampleTable> tables = {
      read_operator_samples(parse_csv(std::string(kKernelColumns) + text, "kernels.csv"))};
  for (const FittedOperator& fitted :
       fit_device_operators(tables, find_operator_fit_device("h100-sxm-80g")).operators) {
    if (fitted.entry.pass == pass) return fitted.entry.law;
  }
  return {};
}

DeviceFit fit_of(const std::string& text) {
  const std::vector<OperatorSampleTable> tables = {
      read_operator_samples(parse_csv(text, "a100_sxm4_80g.csv"))};
  return fit_device_operators(tables, find_operator_fit_device("a100-sxm-80g"));
}

TEST(DeviceFit, TakesTheLawWhereItIsTheLaw) {
  const DeviceFit fit = fit_of(residual_rows(0.6));
  ASSERT_EQ(fit.operators.size(), 1);
  const FittedOperator& residual = fit.operators[0];
  EXPECT_EQ(residual.entry.what, cost::OperatorClass::kResidual);
  EXPECT_EQ(residual.entry.kind, cost::FitModelKind::kLaw);
  EXPECT_NEAR(residual.entry.law.memory_share, 0.6, 0.005);
  EXPECT_LT(residual.errors.law.mean, 0.01);
  EXPECT_GT(residual.errors.trees.mean, residual.errors.law.mean);
  EXPECT_GT(residual.errors.unfitted.mean, 0.1);
  EXPECT_EQ(residual.refused, "");
  EXPECT_TRUE(fit.dropped.empty());
}

TEST(DeviceFit, DropsImpossibleAndStrangeRowsAndSaysWhich) {
  const DeviceFit fit = fit_of(residual_rows(0.6) +
                               "residual_add,,2,4096,4096,,,20,\n"      // 201 MB: 99 us at peak
                               "residual_add,,8,4096,4096,,,662000,\n"  // nanoseconds
                               "residual_add,,2,4096,5120,,,900,\n");   // 4 times the others
  std::vector<std::string> dropped;
  for (const UnusableOperatorRow& row : fit.dropped) {
    dropped.push_back(std::to_string(row.line) + ": " + row.reason);
  }
  EXPECT_THAT(dropped, testing::ElementsAre("65: above peak", "66: other units", "67: outlier"));
  EXPECT_NEAR(fit.operators[0].entry.law.memory_share, 0.6, 0.005);
}

TEST(DeviceFit, RefusesSharesThatNoProfileHolds) {
  std::string text = "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n";
  for (int hidden = 2048; hidden <= 8192; hidden += 1024) {
    for (int length = 1024; length <= 5120; length += 512) {
      const double us = 24.0 * length * hidden / 2039e9 * 1e6;
      text += fmt::format("residual_add,,4,{},{},,,{},\n", length, hidden, 1e16 * us);
    }
  }
  const DeviceFit fit = fit_of(text);
  ASSERT_EQ(fit.operators.size(), 1U);
  EXPECT_THAT(fit.operators[0].refused, testing::HasSubstr("memory_share"));
  EXPECT_THAT(fit.operators[0].refused,
              testing::HasSubstr("the times are probably in another unit"));
}

TEST(DeviceFit, RefusesAFitThatIsWorseThanTheDefault) {
  // The default is exact here: 80 % of the bandwidth and 3 us. The rows hide it under noise that
  // depends on the hidden size, which a fit learns and then misses on sizes left out.
  std::string text = "op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n";
  for (int hidden = 2048, i = 0; hidden <= 8192; hidden += 1024, ++i) {
    for (int length = 1024; length <= 5120; length += 512) {
      const double us =
          (3 + 6.0 * 4 * length * hidden / (0.8 * 2039e9) * 1e6) * (i % 4 == 0   ? 1
                                                                    : i % 2 == 0 ? 1.12
                                                                                 : 0.97);
      text += "residual_add,,4," + std::to_string(length) + "," + std::to_string(hidden) + ",,," +
              std::to_string(us) + ",\n";
    }
  }
  const DeviceFit fit = fit_of(text);
  EXPECT_THAT(fit.operators[0].refused, testing::HasSubstr("worse than the default"));
}

TEST(DeviceFit, TakesOffTheCopyThatAnEngineTimesWithAnAttention) {
  const cost::OperatorTimeLawConstants alone =
      attention_law(attention_rows(0.5, false), cost::OperatorPass::kForward);
  const cost::OperatorTimeLawConstants beside_copy =
      attention_law(attention_rows(0.5, true), cost::OperatorPass::kForward);
  EXPECT_NEAR(alone.start_us, 12, 1);
  EXPECT_NEAR(beside_copy.start_us, 12, 1);
  EXPECT_NEAR(beside_copy.arithmetic_share, alone.arithmetic_share, 0.03);
}

TEST(DeviceFit, ABackwardWithoutSamplesFollowsTheForward) {
  const std::string rows = attention_rows(0.5, false);
  const cost::OperatorTimeLawConstants forward = attention_law(rows, cost::OperatorPass::kForward);
  const cost::OperatorTimeLawConstants backward =
      attention_law(rows, cost::OperatorPass::kBackward);
  EXPECT_NEAR(backward.start_us, 2.5 * forward.start_us, 0.01);
  EXPECT_NEAR(backward.arithmetic_share, 0.9 * forward.arithmetic_share, 1e-4);
  EXPECT_NEAR(backward.ramp, forward.ramp + 150, 0.1);
}

TEST(DeviceFit, EachAttentionKernelIsAFitOfItsOwn) {
  const std::string text = std::string(kKernelColumns) +
                           attention_rows(0.3, false, "SDPA flash (FlashAttention-2)") +
                           attention_rows(0.6, false, "SDPA cuDNN");
  const std::vector<OperatorSampleTable> tables = {
      read_operator_samples(parse_csv(text, "kernels.csv"))};
  const DeviceFit fit = fit_device_operators(tables, find_operator_fit_device("h100-sxm-80g"));
  std::map<std::pair<cluster::AttentionKernel, cost::OperatorPass>, double> shares;
  for (const FittedOperator& fitted : fit.operators) {
    const cost::OperatorClassFit& entry = fitted.entry;
    shares[{entry.kernel, entry.pass}] = entry.law.arithmetic_share;
    EXPECT_LT(fitted.errors.law.mean, 0.02);
  }
  ASSERT_EQ(fit.operators.size(), 4);  // backwards follow
  const auto flash2 = shares.at({cluster::AttentionKernel::kFlash2, cost::OperatorPass::kForward});
  const auto cudnn = shares.at({cluster::AttentionKernel::kCudnn, cost::OperatorPass::kForward});
  EXPECT_NEAR(cudnn / flash2, 2, 0.2);
  EXPECT_NEAR(shares.at({cluster::AttentionKernel::kFlash2, cost::OperatorPass::kBackward}),
              0.9 * flash2, 1e-4);
}

TEST(DeviceFit, TooFewRowsAreNoFit) {
  EXPECT_THAT(fit_of("op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us\n"
                     "residual_add,,4,1024,2048,,,30,\n")
                  .operators[0]
                  .refused,
              testing::HasSubstr("1 usable rows"));
}

TEST(OperatorFitDevice, IsGuessedFromTheFileOrItsRows) {
  const auto guess = [](const std::string& file) {
    OperatorSampleTable table{.file = file};
    table.samples.resize(1);
    return device_of_samples(std::vector{table});
  };
  EXPECT_EQ(guess("data/a100_sxm4_80g.csv"), "a100-sxm-80g");
  EXPECT_EQ(guess("gh200_120g.csv"), "gh200-96g");  // and not a variant
  EXPECT_EQ(guess("gh200-144g.csv"), "gh200-144g");
  EXPECT_THROW((void)guess("samples.csv"), Error);
  EXPECT_THROW((void)guess("a100.csv"), Error);  // four of them
  OperatorSampleTable two{.file = "kernels.csv"};
  two.samples.resize(2);
  two.samples[0].device = "h100-sxm-80g";
  two.samples[1].device = "b200-sxm";
  EXPECT_THROW((void)device_of_samples(std::vector{two}), Error);
  EXPECT_EQ(find_operator_fit_device("gb200").multiprocessors, 152);
  EXPECT_EQ(find_operator_fit_device("l40s").multiprocessors, 142);
  EXPECT_EQ(find_operator_fit_device("h200-sxm").multiprocessors, 132);
  EXPECT_THROW((void)find_operator_fit_device("no-such-device"), Error);
  EXPECT_THROW((void)find_operator_fit_device("mi300x"), Error);
}

}  // namespace
}  // namespace stepwright::fit
