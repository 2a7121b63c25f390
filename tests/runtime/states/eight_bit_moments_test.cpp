// Optimizer moments in eight bits.
#include "stepwright/runtime/states/eight_bit_moments.h"

#include <gtest/gtest.h>

namespace stepwright::runtime {
namespace {

constexpr auto kExact = at::kDouble;

EightBitOptimizerMoments stored(const at::Tensor& values, std::int64_t blocks,
                                MomentSigns signs = MomentSigns::kBoth) {
  EightBitOptimizerMoments bits = EightBitOptimizerMoments::make_zero_moments(
      values.numel(), blocks, signs, at::TensorOptions().dtype(values.dtype()));
  bits.encode_with_new_scales(values);
  return bits;
}

TEST(EightBitOptimizerMoments, NumbersAreMiddlesOfPartsOfSevenDecades) {
  const at::Tensor& both = eight_bit_codebook(MomentSigns::kBoth);
  ASSERT_EQ(both.numel(), 256);
  EXPECT_FLOAT_EQ(both[0].item<float>(), -0.99296875F) << "1 - 0.9 / 128";
  EXPECT_EQ(both[255].item<float>(), 1);
  EXPECT_EQ(both[127].item<float>(), 0);
  EXPECT_FLOAT_EQ(both[128].item<float>(), 5.5e-7F) << "the middle of 1e-7 and 1e-6";
  EXPECT_FLOAT_EQ(both[129].item<float>(), 3.25e-6F) << "the first of two parts";
  const at::Tensor& plus = eight_bit_codebook(MomentSigns::kPlus);
  ASSERT_EQ(plus.numel(), 256);
  EXPECT_EQ(plus[0].item<float>(), 0);
  EXPECT_FLOAT_EQ(plus[1].item<float>(), 3.25e-7F);
  EXPECT_FLOAT_EQ(plus[254].item<float>(), 0.996484375F);
}

TEST(EightBitOptimizerMoments, TakeTheNearestNumberOfTheirBlock) {
  const at::Tensor values = at::randn({3, 300}, at::TensorOptions(kExact)).flatten();
  const EightBitOptimizerMoments bits = stored(values, 3);
  EXPECT_EQ(bits.scales.numel(), 6) << "300 elements are two blocks";
  const at::Tensor read = bits.decode_moments();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const std::int64_t block = i / 300 * 300 + i % 300 / 256 * 256;
    const std::int64_t size = std::min<std::int64_t>(256, i / 300 * 300 + 300 - block);
    const at::Tensor scale = values.narrow(0, block, size).abs().max();
    const at::Tensor errors =
        (eight_bit_codebook(MomentSigns::kBoth).to(kExact) * scale - values[i]).abs();
    EXPECT_LE((read[i] - values[i]).abs().item<double>(), errors.min().item<double>() + 1e-15);
  }
}

TEST(EightBitOptimizerMoments, KeepSignsAndZeros) {
  const at::Tensor values = at::tensor({2.0, -1e-12, 1e-12, 0.0}, kExact);
  const at::Tensor read = stored(values, 1).decode_moments();
  EXPECT_EQ(read[0].item<double>(), 2);
  EXPECT_LT(read[1].item<double>(), 0);
  EXPECT_EQ(read[2].item<double>(), 0);
  EXPECT_EQ(read[3].item<double>(), 0);
  EXPECT_TRUE(stored(at::zeros({5}, kExact), 1).decode_moments().equal(at::zeros({5}, kExact)));
}

/// The largest value of a block may be negative, and is then not among the block's numbers.
TEST(EightBitOptimizerMoments, AreRestoredExactlyFromValuesAndScales) {
  for (const MomentSigns signs : {MomentSigns::kBoth, MomentSigns::kPlus}) {
    at::Tensor values = at::randn({600}, at::TensorOptions(at::kFloat));
    if (signs == MomentSigns::kPlus) values = values.square();
    values[7] = signs == MomentSigns::kBoth ? -9 : 9;
    const EightBitOptimizerMoments bits = stored(values, 2, signs);
    EightBitOptimizerMoments again =
        EightBitOptimizerMoments::make_zero_moments(600, 2, signs, values.options());
    again.encode_with_given_scales(bits.decode_moments(), bits.scales_by_element());
    EXPECT_TRUE(again.bytes.equal(bits.bytes));
    EXPECT_TRUE(again.scales.equal(bits.scales));
  }
}

}  // namespace
}  // namespace stepwright::runtime
