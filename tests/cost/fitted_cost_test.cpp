#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/compute_cost.h"
#include "stepwright/cost/price_table.h"
#include "stepwright/cost/profiles/profile_catalog.h"
#include "stepwright/step/work.h"

namespace stepwright::cost {
namespace {

plan::Job job_on(std::string_view device) {
  plan::Job job;
  job.cluster.device = cluster::built_in_device(device);
  return job;
}

step::Operator product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       step::Phase phase = step::Phase::kForward) {
  return {.kind = step::OperatorKind::kLinear,
          .phase = phase,
          .shape = {.rows = rows, .columns = columns, .inner = inner}};
}

const OperatorProfile* profile_of(std::string_view device) {
  return operator_profiles_for(cluster::built_in_device(device)).front();
}

TEST(FittedCost, ADeviceHasItsOwnProfileFirst) {
  EXPECT_EQ(profile_of("a100-sxm-80g")->name, "a100_sxm4_80g_perlmutter");
  EXPECT_EQ(profile_of("gh200-96g")->name, "gh200_120g_vista");
  EXPECT_EQ(profile_of("b200-sxm")->name, "b200-sxm");
  EXPECT_EQ(ComputationCostModel(job_on("a100-sxm-80g")).operator_profile_names(),
            "a100_sxm4_80g_perlmutter");
  EXPECT_THAT(ComputationCostModel(job_on("a40")).operator_profile_names(),
              testing::Optional(testing::HasSubstr("scaled")));
  EXPECT_EQ(ComputationCostModel(job_on("a40"), {}).operator_profile_names(), std::nullopt);
}

TEST(FittedCost, APassIsThePhasesOfItsOperators) {
  const std::vector<const OperatorProfile*> profiles = {profile_of("a100-sxm-80g")};
  const ComputationCostModel cost(job_on("a100-sxm-80g"), profiles, DeviceLoad::kIsolated);
  const double data =
      cost.operator_run_seconds(product(8192, 4096, 1024, step::Phase::kDataGradient));
  const double weight =
      cost.operator_run_seconds(product(8192, 4096, 1024, step::Phase::kWeightGradient));
  EXPECT_NE(data, weight);
  EXPECT_NEAR(cost.operator_pass_seconds(OperatorClass::kProduct, OperatorPass::kBackward,
                                         product(8192, 4096, 1024)),
              data + weight, 1e-12);
}

TEST(FittedCost, LongProductsAreSlowerInARunningJob) {
  const auto profiles = operator_profiles_for(cluster::built_in_device("a100-sxm-80g"));
  const ComputationCostModel alone(job_on("a100-sxm-80g"), profiles, DeviceLoad::kIsolated);
  const ComputationCostModel running(job_on("a100-sxm-80g"), profiles);
  const step::Operator large = product(32768, 8192, 8192);
  EXPECT_NEAR(running.operator_run_seconds(large) / alone.operator_run_seconds(large), 1 / 0.88,
              0.01);
}

TEST(FittedCost, AnotherDeviceTakesTheSharesOfTheNearest) {
  const OperatorProfile* a100 = profile_of("a100-sxm-80g");
  const std::vector<const OperatorProfile*> profiles = {a100};
  plan::Job half = job_on("a100-sxm-80g");
  half.cluster.device.name = "half";
  half.cluster.device.memory_bandwidth_bytes_per_s /= 2;
  const step::Operator add{.kind = step::OperatorKind::kAdd,
                           .shape = {.rows = 32768, .columns = 8192}};
  EXPECT_NEAR(ComputationCostModel(half, profiles).operator_run_seconds(add) /
                  ComputationCostModel(job_on("a100-sxm-80g"), profiles).operator_run_seconds(add),
              2, 0.05);
}

TEST(FittedCost, SaysWhenAnOperatorIsOutsideOfWhatWasFitted) {
  const ComputationCostModel cost(job_on("a100-sxm-80g"));
  EXPECT_EQ(cost.outside_fitted_range_text(product(8192, 4096, 4096)), "");
  EXPECT_EQ(cost.outside_fitted_range_text(product(1'000'000, 4096, 4096)),
            "rows 1,000,000, measured 2,048 to 40,960");
  EXPECT_EQ(cost.outside_fitted_range_text({.kind = step::OperatorKind::kDropout}), "");
}

/// Returns operators of all kinds of computation, from tiny to huge.
std::vector<step::Operator> many_operators(DType dtype) {
  std::vector<step::Operator> all;
  for (const Named<step::OperatorKind>& entry : step::kOperatorNames) {
    if (step::is_communication(entry.value)) continue;
    for (std::int64_t size = 1; size <= 65536; size *= 4) {
      for (const step::Phase phase :
           {step::Phase::kForward, step::Phase::kDataGradient, step::Phase::kWeightGradient}) {
        all.push_back({.kind = entry.value,
                       .phase = phase,
                       .dtype = dtype,
                       .shape = {.rows = size,
                                 .columns = 4096,
                                 .inner = 1024,
                                 .batch = 4,
                                 .heads = 8,
                                 .kv_heads = 2,
                                 .queries = size,
                                 .keys = size,
                                 .head_dim = 128,
                                 .value_dim = 128,
                                 .pairs = size * (size + 1) / 2}});
      }
    }
  }
  return all;
}

// NOLINTNEXTLINE(readability-function-size): devices, loads, types and operators.
TEST(FittedCost, NothingIsFasterThanThePeaksOnAnyDevice) {
  constexpr double kRounding = 1 - 1e-12;
  for (const std::string_view name : cluster::built_in_device_names()) {
    const plan::Job job = job_on(name);
    const cluster::DeviceModel& device = job.cluster.device;
    for (const DeviceLoad load : {DeviceLoad::kRunning, DeviceLoad::kIsolated}) {
      const ComputationCostModel cost(job, operator_profiles_for(device), load);
      for (const auto& [dtype, peak] : device.peak_flops) {
        if (plan::parameter_storage_type(dtype) != dtype) continue;
        for (const step::Operator& op : many_operators(dtype)) {
          const double seconds = cost.operator_run_seconds(op);
          EXPECT_GE(seconds, kRounding * step::operator_flops(op) / peak) << name;
          EXPECT_GE(seconds, kRounding * step::device_memory_traffic_bytes(op) /
                                 device.memory_bandwidth_bytes_per_s)
              << name;
          EXPECT_TRUE(std::isfinite(seconds));
        }
      }
    }
  }
}

TEST(FittedCost, TheTableKnowsWhatWasPriced) {
  const CostModel cost(job_on("a100-sxm-80g"));
  OperatorTimeCache table(cost);
  for (int again = 0; again < 2; ++again) {
    for (const step::Operator& op : many_operators(DType::kBf16)) {
      EXPECT_EQ(table.cached_operator_seconds(op), cost.compute_s(op));
    }
  }
  EXPECT_LE(table.size(), many_operators(DType::kBf16).size());
}

TEST(FittedCost, WhatIsReadWhenAskedForIsWhatTheFileSays) {
  for (const std::string_view name : built_in_profile_names()) {
    const OperatorProfile whole = read_operator_profile(load_profile(std::string(name)));
    const OperatorProfile& later = *profile_of(whole.device);
    EXPECT_EQ(later.name, name);
    for (const Named<OperatorClass>& what : kOperatorClassNames) {
      for (const Named<OperatorPass>& pass : kPassNames) {
        const auto* expected = whole.find(what.value, pass.value);
        const auto* found = later.find(what.value, pass.value);
        ASSERT_EQ(found == nullptr, expected == nullptr) << name << what.name << pass.name;
        if (found == nullptr) continue;
        EXPECT_EQ(found->get().what, what.value);
        EXPECT_EQ(found->get().pass, pass.value);
        EXPECT_EQ(found->get().kind, expected->get().kind);
        EXPECT_EQ(found->get().trees.boosted_tree_texts(),
                  expected->get().trees.boosted_tree_texts());
        EXPECT_EQ(found->get().law.memory_share, expected->get().law.memory_share);
      }
    }
  }
}

/// Returns a profile of the H100 with the attention of one kernel at half of the peak and of
/// another at a quarter.
OperatorProfile profile_of_two_kernels(std::string_view first, std::string_view second) {
  const auto entry = [](std::string_view kernel, double share) {
    return fmt::format(
        R"({{"class": "attention", "pass": "forward", "chosen": "law", "kernel": "{}", "range": {{}},)"
        R"( "law": {{"start_us": 1, "arithmetic_share": {}, "wave_weight": 0, "ramp": 0,)"
        R"( "memory_share": 1, "uneven_head": 0, "wide_head": 0, "head_ramp": 0,)"
        R"( "masked_keys": 0}}}})",
        kernel, share);
  };
  const std::string head =
      R"({"stepwright": "profile/1", "name": "p", "device": {"name": "h100-sxm-80g",)"
      R"( "peak_flops": 989.4e12, "memory_bandwidth_bytes_per_s": 3.35e12, "multiprocessors": 132},)"
      R"( "operators": [)";
  const std::string text = head + entry(first, 0.5) + ", " + entry(second, 0.25) + "]}";
  return read_operator_profile(YamlJsonDocument::parse(text, "p.json"));
}

const step::Operator kLongAttention{.kind = step::OperatorKind::kAttention,
                                    .shape = {.batch = 8,
                                              .heads = 64,
                                              .kv_heads = 64,
                                              .queries = 8192,
                                              .keys = 8192,
                                              .head_dim = 128,
                                              .value_dim = 128,
                                              .pairs = 8192LL * 8192}};

TEST(FittedCost, AnAttentionKernelTakesItsOwnFit) {
  const OperatorProfile profile = profile_of_two_kernels("cudnn", "flash2");
  const std::vector<const OperatorProfile*> profiles = {&profile};
  const auto seconds = [&](cluster::AttentionKernel kernel) {
    plan::Job job = job_on("h100-sxm-80g");
    job.kernels.attention = kernel;
    return ComputationCostModel(job, profiles, DeviceLoad::kIsolated)
        .operator_run_seconds(kLongAttention);
  };
  const double cudnn = seconds(cluster::AttentionKernel::kCudnn);
  EXPECT_NEAR(seconds(cluster::AttentionKernel::kFlash2) / cudnn, 2, 0.01);
  // A kernel that was not sampled follows the nearest one, at the ratio of their defaults.
  EXPECT_NEAR(cudnn / seconds(cluster::AttentionKernel::kFlash3), 0.655 / 0.61, 0.01);
}

TEST(FittedCost, AttentionInFp8IsFasterWhereProductsAreNarrow) {
  const auto seconds = [&](std::string_view device, DType precision, bool narrow) {
    plan::Job job = job_on(device);
    job.precision = precision;
    job.kernels.attention = cluster::AttentionKernel::kCudnn;
    job.kernels.narrow_attention = narrow;
    const ComputationCostModel cost(job);
    EXPECT_LE(cost.min_operator_seconds(kLongAttention), cost.operator_run_seconds(kLongAttention));
    return cost.operator_run_seconds(kLongAttention);
  };
  for (const DType precision : {DType::kFp8, DType::kMxfp8}) {
    EXPECT_NEAR(
        seconds("h100-sxm-80g", precision, false) / seconds("h100-sxm-80g", precision, true), 1.7,
        0.05);
  }
  EXPECT_EQ(seconds("h100-sxm-80g", DType::kBf16, false),
            seconds("h100-sxm-80g", DType::kBf16, true));
  EXPECT_EQ(seconds("a100-sxm-80g", DType::kBf16, false),
            seconds("a100-sxm-80g", DType::kBf16, true));
}

TEST(FittedCost, AKernelHasOneFitOfAPass) {
  EXPECT_THROW((void)profile_of_two_kernels("cudnn", "cudnn"), Error);
}

TEST(FittedCost, ABrokenProfileSaysWhere) {
  const auto read = [](const std::string& text) {
    (void)read_operator_profile(YamlJsonDocument::parse(text, "p.json"));
  };
  const std::string head =
      R"({"stepwright": "profile/1", "name": "p", "device": {"name": "d", "peak_flops": 1e12,)"
      R"( "memory_bandwidth_bytes_per_s": 1e12, "multiprocessors": 8}, "operators": [)";
  const std::string law = R"("law": {"start_us": 1, "memory_share": 1, "row_ns": 0}, "range": {})";
  EXPECT_NO_THROW(
      read(head + R"({"class": "norm", "pass": "forward", "chosen": "law", )" + law + "}]}"));
  for (const std::string& entry : std::vector<std::string>{
           R"({"class": "nor", "pass": "forward", "chosen": "law", )" + law + "}",
           R"({"class": "norm", "pass": "forward", "chosen": "trees", )" + law + "}",
           R"({"class": "product", "pass": "forward", "chosen": "law", )" + law + "}",
           R"({"class": "norm", "pass": "forward", "chosen": "law", "law": {}, "range": {}})"}) {
    EXPECT_THROW(read(head + entry + "]}"), Error) << entry;
  }
  EXPECT_THROW(read(R"({"stepwright": "plan/1"})"), Error);
  EXPECT_THROW((void)load_profile("no-such-profile"), Error);
}

}  // namespace
}  // namespace stepwright::cost
