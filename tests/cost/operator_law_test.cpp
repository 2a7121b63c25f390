#include "stepwright/cost/laws/operator_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::cost {
namespace {

constexpr DevicePeakRates kPeaks{312e12, 2e12};

step::Operator half_product(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return {.kind = step::OperatorKind::kLinear,
          .dtype = DType::kFp16,
          .shape = {.rows = rows, .columns = columns, .inner = inner}};
}

TEST(OperatorLaw, AProductPaysTilesWavesDepthAndStart) {
  // 4096 x 4096 in tiles of 128 x 256: 512 tiles, 5 waves of 108: 540 / 512 = 1.0546875; 1,024
  // tiles of 128 x 128: 10 waves, 1080 / 1024, the same.
  const OperatorPassWork work = operator_pass_work_for_law(
      OperatorClass::kProduct, OperatorPass::kForward, half_product(4096, 4096, 4096), 108);
  ASSERT_EQ(work.count, 1);
  EXPECT_EQ(work.kernels[0].waves, 1.0546875);
  EXPECT_EQ(work.kernels[0].depth, 4096);
  const OperatorTimeLawConstants law{.start_us = 10,
                                     .arithmetic_share = 0.8,
                                     .wave_weight = 0.5,
                                     .ramp = 64,
                                     .memory_share = 0.75};
  // 137.439e9 FLOP at .8 * 312e12 = 550.637 us, * sqrt(1.0546875) * (1 + 1/64) = 574.319 us.
  // 100.663e6 bytes at 1.5e12 = 67.109 us; the fourth root of the sum of fourth powers: 574.346 us.
  EXPECT_NEAR(fitted_law_seconds(law, work, kPeaks)[0], 584.346e-6, 0.01e-6);
}

TEST(OperatorLaw, TheBackwardOfAProductIsItsTwoGradients) {
  const OperatorPassWork work = operator_pass_work_for_law(
      OperatorClass::kProduct, OperatorPass::kBackward, half_product(8192, 1024, 4096), 108);
  ASSERT_EQ(work.count, 2);
  EXPECT_EQ(work.kernels[0].depth, 4096);  // rows x inner over columns
  EXPECT_EQ(work.kernels[1].depth, 8192);  // inner x columns over rows
  const OperatorTimeLawConstants law{.start_us = 30, .arithmetic_share = 0.9};
  const auto seconds = fitted_law_seconds(law, work, kPeaks);
  // Each 68.719e9 FLOP at .9 * 312e12: 244.727 us; half of the start: 15 us. Bytes: 92.275e6 at
  // 2e12, 46.137 us, add .077 us.
  EXPECT_NEAR(seconds[0], 259.804e-6, 0.01e-6);
  EXPECT_NEAR(seconds[1], 259.804e-6, 0.01e-6);
}

TEST(OperatorLaw, AVectorKernelPaysItsBytesAndRows) {
  const step::Operator op{.kind = step::OperatorKind::kNorm,
                          .dtype = DType::kFp16,
                          .shape = {.rows = 8192, .columns = 4096}};
  const OperatorPassWork work =
      operator_pass_work_for_law(OperatorClass::kNorm, OperatorPass::kForward, op, 108);
  const OperatorTimeLawConstants law{.start_us = 5, .memory_share = 0.5, .row_ns = 2};
  // 134.218e6 bytes at 1e12: 134.218 us; 8,192 rows of 2 ns: 16.384 us; start 5 us.
  EXPECT_NEAR(fitted_law_seconds(law, work, kPeaks)[0], 155.602e-6, 0.01e-6);
}

TEST(OperatorLaw, AttentionPaysPaddedHeadsAndMaskedTiles) {
  step::Operator op{.kind = step::OperatorKind::kAttention,
                    .dtype = DType::kFp16,
                    .shape = {.batch = 1,
                              .heads = 32,
                              .kv_heads = 32,
                              .queries = 4096,
                              .keys = 4096,
                              .head_dim = 80,
                              .value_dim = 80,
                              .pairs = std::int64_t{4096} * 4096}};
  const OperatorPassWork plain =
      operator_pass_work_for_law(OperatorClass::kAttention, OperatorPass::kForward, op, 108);
  EXPECT_TRUE(plain.kernels[0].uneven_head);
  EXPECT_EQ(plain.kernels[0].head_dim, 96);
  EXPECT_NEAR(plain.kernels[0].flops, 4.0 * 32 * 4096 * 4096 * 96, 1e6);
  EXPECT_EQ(plain.kernels[0].masked, 0);
  op.shape.pairs = 4096 * 4097 / 2;
  const OperatorPassWork causal =
      operator_pass_work_for_law(OperatorClass::kAttention, OperatorPass::kForward, op, 108);
  EXPECT_NEAR(causal.kernels[0].masked, 2.0 / 4097, 1e-12);
  const OperatorTimeLawConstants law{.uneven_head = 0.25, .masked_keys = 4097};
  // Half the pairs, and as much again for the tiles that the mask cuts.
  EXPECT_NEAR(fitted_law_seconds(law, causal, {1e12, 1e18})[0] /
                  fitted_law_seconds(law, plain, {1e12, 1e18})[0],
              1.5 * 4097 / 4096, 1e-6);
}

TEST(OperatorLaw, EveryClassHasAsManyFeaturesAsNames) {
  const step::Operator op = half_product(4096, 4096, 4096);
  for (const Named<OperatorClass>& what : kOperatorClassNames) {
    for (const Named<OperatorPass>& pass : kPassNames) {
      EXPECT_EQ(features(what.value, pass.value, op, 108).count,
                boosted_tree_feature_names(what.value, pass.value).size())
          << what.name << ' ' << pass.name;
    }
  }
}

}  // namespace
}  // namespace stepwright::cost
