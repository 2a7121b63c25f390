#include "stepwright/cost/compute_cost.h"

#include <gtest/gtest.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/cost/laws/constants.h"
#include "stepwright/step/work.h"
#include "tests/cost/jobs.h"

namespace stepwright::cost {
namespace {

constexpr double kClose = 0.01 * kMicro;

step::Operator linear(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                      DType dtype = DType::kBf16) {
  return {.kind = step::OperatorKind::kLinear,
          .dtype = dtype,
          .shape = {.rows = rows, .columns = columns, .inner = inner}};
}

step::Operator vector_operator(step::OperatorKind kind, step::Phase phase = step::Phase::kForward) {
  return {.kind = kind, .phase = phase, .shape = {.rows = 4096, .columns = 8192, .inner = 8}};
}

step::Operator attention(step::Phase phase, std::int64_t head_dim = 128) {
  return {.kind = step::OperatorKind::kAttention,
          .phase = phase,
          .shape = {.batch = 1,
                    .heads = 32,
                    .kv_heads = 8,
                    .queries = 4096,
                    .keys = 4096,
                    .head_dim = head_dim,
                    .value_dim = head_dim,
                    .pairs = 4096 * 4097 / 2}};
}

TEST(ComputationCostModel, AProductTakesItsFlopsAtTheAttainableRateAndItsStart) {
  const ComputationCostModel cost(a100_job(), {});
  // 2 * 4096^3 = 137.439e9 FLOP at .84 * 312e12: 524.416 us; start 10 us, launch 3 us.
  EXPECT_NEAR(cost.operator_run_seconds(linear(4096, 4096, 4096)), 537.416 * kMicro, kClose);
}

TEST(ComputationCostModel, AThinProductIsBoundByMemory) {
  const ComputationCostModel cost(a100_job(), {});
  // 2 * (16 * 8192 + 8192^2 + 16 * 8192) bytes at .8 * 2e12: 84.214 us; launch 3 us.
  EXPECT_NEAR(cost.operator_run_seconds(linear(16, 8192, 8192)), 87.214 * kMicro, kClose);
}

TEST(ComputationCostModel, NarrowProductsAreFasterOnDevicesThatHaveThem) {
  const ComputationCostModel cost(h100_job(), {});
  const double flop = 2.0 * 8192 * 8192 * 8192;
  EXPECT_NEAR(cost.operator_run_seconds(linear(8192, 8192, 8192)), flop / (0.78 * 990e12) + 9e-6,
              kClose);
  EXPECT_NEAR(cost.operator_run_seconds(linear(8192, 8192, 8192, DType::kFp8)),
              flop / (1.93 * 0.78 * 990e12) + 9e-6, kClose);
  EXPECT_NEAR(cost.operator_run_seconds(linear(8192, 8192, 8192, DType::kFp32)),
              flop / (0.7 * 67e12) + 9e-6, kClose);
}

// 500 W of 700, of which 126 do not follow the clock, for a peak of 990 TFLOP/s where the
// generation's board has 989: (374 / 574 * 989 / 990)^(1/2) = .8068.
TEST(ComputationCostModel, ABoardOfLessPowerKeepsALowerClockInARunningJob) {
  plan::Job job = h100_job();
  const ComputationCostModel usual(job, {});
  job.cluster.device.board_power_w = 500;
  EXPECT_NEAR(power_limited_peak_share(cluster::device_generation_of(job.cluster.device),
                                       job.cluster.device),
              0.8068, 1e-4);
  const ComputationCostModel less(job, {});
  const ComputationCostModel alone(job, {}, DeviceLoad::kIsolated);
  const step::Operator product = linear(8192, 8192, 8192);
  EXPECT_NEAR(
      (less.operator_run_seconds(product) - 9e-6) / (usual.operator_run_seconds(product) - 9e-6),
      1 / 0.8068, 1e-4);
  EXPECT_EQ(alone.operator_run_seconds(product), usual.operator_run_seconds(product));
  step::Operator norm = product;
  norm.kind = step::OperatorKind::kNorm;
  EXPECT_EQ(less.operator_run_seconds(norm), usual.operator_run_seconds(norm));
}

// An H20 has 400 W for 148 TFLOP/s: (274 / 574 * 989 / 148)^(1/2) = 1.79, more than any clock.
TEST(ComputationCostModel, ABoardOfMuchPowerForItsPeakIsBoundByNone) {
  const cluster::DeviceModel h20 = cluster::built_in_device("h20-96g");
  EXPECT_EQ(power_limited_peak_share(cluster::device_generation_of(h20), h20),
            constants::kFreeClock.value);
}

// ((1000 - 135) / (750 - 135))^(1/2) = 1.186; AMD's own rates of both are 1.19 apart.
TEST(ComputationCostModel, AnMi325xKeepsAHigherClockThanAnMi300x) {
  const cluster::DeviceModel device = cluster::built_in_device("mi325x");
  EXPECT_NEAR(power_limited_peak_share(cluster::device_generation_of(device), device), 1.186, 1e-3);
}

TEST(ComputationCostModel, Tf32IsHalfOf16BitsWhereTheDeviceHasIt) {
  const auto rate = [](const char* device, bool tf32) {
    plan::Job job = h100_job();
    job.cluster.device = cluster::built_in_device(device);
    job.kernels.tf32 = tf32;
    const step::Operator product = linear(16384, 16384, 16384, DType::kFp32);
    return step::operator_flops(product) /
           ComputationCostModel(job, {}).operator_run_seconds(product);
  };
  EXPECT_NEAR(rate("h100-sxm-80g", true), 0.78 * 989.4e12 / 2, 0.01 * 495e12);
  EXPECT_NEAR(rate("h100-sxm-80g", false), 0.7 * 67e12, 0.01 * 67e12);
  EXPECT_EQ(rate("v100-sxm-32g", true), rate("v100-sxm-32g", false));
}

/// Only Hopper's fast products require TF32 operands to be contiguous along the inner dimension.
TEST(ComputationCostModel, GradientsInTf32AreSlowerThanTheirForwardOnHopper) {
  const auto slowdown = [](const char* device, DType type) {
    plan::Job job = h100_job();
    job.cluster.device = cluster::built_in_device(device);
    job.kernels.tf32 = true;
    const ComputationCostModel cost(job, {});
    step::Operator product = linear(16384, 16384, 16384, type);
    const double forward_s = cost.operator_run_seconds(product);
    product.phase = step::Phase::kWeightGradient;
    return cost.operator_run_seconds(product) / forward_s;
  };
  EXPECT_NEAR(slowdown("h100-sxm-80g", DType::kFp32), 1 / 0.63, 0.01);
  EXPECT_DOUBLE_EQ(slowdown("h100-sxm-80g", DType::kBf16), 1);
  EXPECT_DOUBLE_EQ(slowdown("a100-sxm-80g", DType::kFp32), 1);
}

// A grouped product takes the time of its rows and of 128 more for each expert, at .85 of the rate.
TEST(ComputationCostModel, AGroupedProductIsAPlainOneOfItsPaddedRows) {
  const ComputationCostModel cost(a100_job());
  const auto seconds = [&](step::OperatorKind kind, std::int64_t rows) {
    step::Operator op = linear(rows, 4096, 4096);
    op.kind = kind;
    op.shape.batch = kind == step::OperatorKind::kGroupedLinear ? 8 : 0;
    op.routed = true;  // The boosted trees correct only products whose rows are not routed.
    return cost.operator_run_seconds(op);
  };
  using enum step::OperatorKind;
  EXPECT_NEAR(seconds(kGroupedLinear, 16384) / seconds(kLinear, 16384 + 8 * 128), 1 / 0.85, 0.01);
  for (std::int64_t rows = 1; rows < 4096; rows *= 2)
    EXPECT_LE(seconds(kGroupedLinear, rows), seconds(kGroupedLinear, 2 * rows));
}

// torchtitan 0.2.1 and 0.2.2 multiply gradients by scores with torch.bmm, one product per token.
TEST(ComputationCostModel, OuterProductsBoundTheGradientsOfRowsThatReturnFromExperts) {
  const auto seconds = [](const char* version, step::OperatorPurpose purpose) {
    plan::Job job = h100_job();
    job.framework = {.name = "torchtitan", .version = version};
    step::Operator op = vector_operator(step::OperatorKind::kUnpermute);
    op.purpose = purpose;
    return ComputationCostModel(job, {}).operator_run_seconds(op);
  };
  using enum step::OperatorPurpose;
  const double elements = 4096.0 * 8192;
  EXPECT_NEAR(seconds("0.2.2", kGateGradient), elements / (3.5e-3 * 67e12) + 3e-6, kClose);
  EXPECT_EQ(seconds("0.2.2", kOwnCopies), seconds("0.3", kOwnCopies));
  EXPECT_LT(seconds("0.3", kGateGradient), 0.5 * seconds("0.2.2", kGateGradient));
  EXPECT_EQ(seconds("0.2", kGateGradient), seconds("0.3", kGateGradient));
}

TEST(ComputationCostModel, ALoopOverExpertsStartsAProductForEach) {
  plan::Job job = a100_job();
  step::Operator op = linear(4096, 4096, 4096);
  op.kind = step::OperatorKind::kGroupedLinear;
  op.shape.batch = 8;
  const double grouped_s = ComputationCostModel(job, {}).operator_run_seconds(op);
  job.kernels.grouped_experts = false;
  const ComputationCostModel looped(job, {});
  EXPECT_NEAR(looped.operator_run_seconds(op) - grouped_s, 7 * 13e-6, kClose);  // start and launch
  EXPECT_EQ(looped.kernel_launch_count(op), 8);
}

// The backward of PyTorch's attention on AMD attains .37 of its forward's rate, others .9.
TEST(ComputationCostModel, AKernelsBackwardHasARateOfItsOwn) {
  const cluster::DeviceGeneration& amd = cluster::find_device_generation("MI300X");
  EXPECT_EQ(attention_backward_rate_ratio(amd, cluster::AttentionKernel::kTriton), 0.37);
  EXPECT_EQ(attention_backward_rate_ratio(cluster::find_device_generation("H100"),
                                          cluster::AttentionKernel::kCudnn),
            constants::kAttentionBackward.value);
}

TEST(ComputationCostModel, GroupedProductsPadEachExpertsRows) {
  const ComputationCostModel cost(a100_job(), {});
  step::Operator op = linear(4096, 4096, 4096);
  op.kind = step::OperatorKind::kGroupedLinear;
  op.shape.batch = 8;
  // 512 rows an expert and 128 of padding: 524.416 us * 640/512 / .85 = 771.200 us; 13 us.
  EXPECT_NEAR(cost.operator_run_seconds(op), 784.200 * kMicro, kClose);
}

TEST(ComputationCostModel, FusedAttentionIsPricedByItsPairs) {
  const ComputationCostModel cost(a100_job(), {});
  // 4 * 32 * 8390656 * 128 = 137.473e9 FLOP at .62 * 312e12: 710.671 us; 240 keys a query more:
  // * 1.117159 = 793.932 us; start and launch 13 us.
  EXPECT_NEAR(cost.operator_run_seconds(attention(step::Phase::kForward)), 806.932 * kMicro,
              kClose);
  // 2.5 times the FLOPs at .9 of the rate, 550 keys a query more: * 1.268489.
  EXPECT_NEAR(cost.operator_run_seconds(attention(step::Phase::kDataGradient)),
              (710.671 * 1.268489 * 2.5 / 0.9 + 13) * kMicro, 0.02 * kMicro);
}

TEST(ComputationCostModel, SmallHeadsAreSlowerAndLargeOnesNotFasterThan128) {
  const ComputationCostModel cost(a100_job(), {});
  const auto rate = [&](std::int64_t head_dim) {
    const step::Operator op = attention(step::Phase::kForward, head_dim);
    return step::operator_flops(op) / (cost.operator_run_seconds(op) - 13e-6);
  };
  EXPECT_NEAR(rate(64) / rate(128), 0.9, 0.001);
  EXPECT_DOUBLE_EQ(rate(256), rate(128));
}

TEST(ComputationCostModel, TheAttentionKernelSetsTheRate) {
  plan::Job job = h100_job();
  double last = 1;
  for (const auto kernel : {cluster::AttentionKernel::kFlash1, cluster::AttentionKernel::kFlash2,
                            cluster::AttentionKernel::kFlash3}) {
    job.kernels.attention = kernel;
    const double seconds =
        ComputationCostModel(job, {}).operator_run_seconds(attention(step::Phase::kForward));
    EXPECT_LT(seconds, last);
    last = seconds;
  }
}

TEST(ComputationCostModel, UnfusedAttentionComputesAllScores) {
  plan::Job job = a100_job();
  job.kernels.attention = cluster::AttentionKernel::kUnfused;
  const ComputationCostModel cost(job, {});
  step::Operator op = attention(step::Phase::kForward);
  op.kind = step::OperatorKind::kScores;
  // 2 * 32 * 4096^2 * 128 = 137.439e9 FLOP at .36 * 312e12: 1223.638 us; 13 us.
  EXPECT_NEAR(cost.operator_run_seconds(op), 1236.638 * kMicro, kClose);
  op.kind = step::OperatorKind::kAttendValues;
  EXPECT_NEAR(cost.operator_run_seconds(op), 1236.638 * kMicro, kClose);
  op.kind = step::OperatorKind::kSoftmax;
  // 4 bytes of 32 * 4096^2 scores at 1.6e12: 1342.177 us; launch 3 us.
  EXPECT_NEAR(cost.operator_run_seconds(op), 1345.177 * kMicro, kClose);
}

TEST(ComputationCostModel, VectorOperatorsAreBoundByMemory) {
  const ComputationCostModel cost(a100_job(), {});
  struct Case {
    step::OperatorKind kind;
    double bytes_per_element, share;
  };
  const Case cases[] = {
      {step::OperatorKind::kEmbedding, 4, 0.2}, {step::OperatorKind::kNorm, 4, 0.6},
      {step::OperatorKind::kRotary, 4, 0.8},    {step::OperatorKind::kActivation, 4, 0.8},
      {step::OperatorKind::kAdd, 6, 0.8},       {step::OperatorKind::kDropout, 5, 0.8},
      {step::OperatorKind::kTopK, 4, 0.8},      {step::OperatorKind::kPermute, 4, 0.8},
      {step::OperatorKind::kUnpermute, 4, 0.8}, {step::OperatorKind::kLossLocal, 4, 0.8},
      {step::OperatorKind::kAccumulate, 6, 0.8}};
  for (const Case& each : cases) {
    SCOPED_TRACE(name_of(step::kOperatorNames, each.kind));
    const double bytes = each.bytes_per_element * 4096 * 8192;
    EXPECT_NEAR(cost.operator_run_seconds(vector_operator(each.kind)),
                bytes / (each.share * 2e12) + 3e-6, kClose);
  }
}

TEST(ComputationCostModel, UpdateAndGradientNormMoveBytesPerParameter) {
  const ComputationCostModel cost(a100_job(), {});
  const step::Operator update{.kind = step::OperatorKind::kOptimizer,
                              .shape = {.rows = 1'000'000'000, .inner = 30}};
  EXPECT_NEAR(cost.operator_run_seconds(update), 30e9 / 1.6e12 + 3e-6, kClose);
  const step::Operator norm{.kind = step::OperatorKind::kNormSquare,
                            .dtype = DType::kFp32,
                            .shape = {.rows = 1'000'000'000}};
  EXPECT_NEAR(cost.operator_run_seconds(norm), 4e9 / 1.6e12 + 3e-6, kClose);
}

TEST(ComputationCostModel, UnfusedKernelsMoveMore) {
  plan::Job job = a100_job();
  const ComputationCostModel fused(job, {});
  job.kernels.fused_norm = false;
  const ComputationCostModel unfused(job, {});
  const auto ratio = [&](step::Operator op) {
    return (unfused.operator_run_seconds(op) - 18e-6) / (fused.operator_run_seconds(op) - 3e-6);
  };
  EXPECT_NEAR(ratio(vector_operator(step::OperatorKind::kNorm)), 4.5, 1e-6);
  EXPECT_NEAR(ratio(vector_operator(step::OperatorKind::kNorm, step::Phase::kDataGradient)), 9.5,
              1e-6);
  EXPECT_NEAR(ratio(vector_operator(step::OperatorKind::kRotary)), 5.5, 1e-6);
  EXPECT_NEAR(ratio(vector_operator(step::OperatorKind::kRotary, step::Phase::kDataGradient)), 11,
              1e-6);
  step::Operator gated = vector_operator(step::OperatorKind::kActivation);
  gated.gated = true;
  EXPECT_NEAR(ratio(gated), 1.8, 1e-6);
  for (const auto kind :
       {step::OperatorKind::kActivation, step::OperatorKind::kAdd, step::OperatorKind::kSoftmax}) {
    EXPECT_EQ(unfused.operator_run_seconds(vector_operator(kind)),
              fused.operator_run_seconds(vector_operator(kind)));
  }
}

TEST(ComputationCostModel, GraphsShortenTheLaunchGap) {
  plan::Job job = a100_job();
  const double gap =
      ComputationCostModel(job, {}).operator_run_seconds(vector_operator(step::OperatorKind::kAdd));
  job.kernels.cuda_graphs.step = true;
  EXPECT_NEAR(gap - ComputationCostModel(job, {}).operator_run_seconds(
                        vector_operator(step::OperatorKind::kAdd)),
              2 * kMicro, kClose);
}

TEST(ComputationCostModel, RoutedWorkCountsTheBusiestRank) {
  const ComputationCostModel cost(a100_job(), {});
  step::Operator routed = linear(4096, 4096, 4096);
  routed.routed = true;
  routed.busiest = 1.5;
  EXPECT_EQ(cost.operator_run_seconds(routed), cost.operator_run_seconds(linear(6144, 4096, 4096)));
}

/// Returns operators of every kind of computation, from tiny to huge shapes.
std::vector<step::Operator> many_operators() {
  std::vector<step::Operator> all;
  for (const Named<step::OperatorKind>& entry : step::kOperatorNames) {
    if (step::is_communication(entry.value)) continue;
    for (std::int64_t size = 1; size <= 65536; size *= 16) {
      for (const step::Phase phase :
           {step::Phase::kForward, step::Phase::kDataGradient, step::Phase::kWeightGradient}) {
        all.push_back({.kind = entry.value,
                       .phase = phase,
                       .gated = true,
                       .shape = {.rows = size,
                                 .columns = 4096,
                                 .inner = 1024,
                                 .batch = 4,
                                 .heads = 8,
                                 .kv_heads = 2,
                                 .queries = size,
                                 .keys = size,
                                 .head_dim = 128,
                                 .value_dim = 64,
                                 .pairs = size * (size + 1) / 2}});
      }
    }
  }
  return all;
}

TEST(ComputationCostModel, NothingIsFasterThanThePeaks) {
  for (const plan::Job& job : {a100_job(), h100_job(), b200_job(), other_job()}) {
    const cluster::DeviceModel& device = job.cluster.device;
    for (const auto& [dtype, peak] : device.peak_flops) {
      const ComputationCostModel cost(job, {});
      for (step::Operator op : many_operators()) {
        op.dtype = dtype;
        const bool narrow_vector = plan::parameter_storage_type(dtype) != dtype &&
                                   op.kind != step::OperatorKind::kLinear &&
                                   op.kind != step::OperatorKind::kGroupedLinear;
        if (narrow_vector) continue;
        EXPECT_GE(cost.operator_run_seconds(op), step::operator_flops(op) / peak);
        EXPECT_GE(cost.operator_run_seconds(op),
                  step::device_memory_traffic_bytes(op) / device.memory_bandwidth_bytes_per_s);
      }
    }
  }
}

TEST(ComputationCostModel, MoreRowsNeverTakeLess) {
  const ComputationCostModel cost(a100_job(), {});
  for (const Named<step::OperatorKind>& entry : step::kOperatorNames) {
    if (step::is_communication(entry.value)) continue;
    double last = 0;
    for (std::int64_t rows = 1; rows < 1'000'000; rows = rows * 3 / 2 + 1) {
      step::Operator op = vector_operator(entry.value);
      op.shape.rows = rows;
      op.shape.batch = 8;
      const double seconds = cost.operator_run_seconds(op);
      EXPECT_GE(seconds, last) << entry.name << " at " << rows;
      last = seconds;
    }
  }
}

}  // namespace
}  // namespace stepwright::cost
