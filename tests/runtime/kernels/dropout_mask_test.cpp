// Dropout masks: numbers of the published generator; an element has the same number on every rank.
#include "stepwright/runtime/kernels/dropout_mask.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stepwright::runtime {
namespace {

at::Tensor first(std::int64_t count) { return at::arange(count, at::kLong); }

/// Expects the elements of a row to have these random numbers: each is dropped exactly above its
/// own number.
void expect_numbers(DropoutGeneratorInputs draw, std::int64_t row,
                    const std::vector<std::uint32_t>& numbers) {
  const auto width = static_cast<std::int64_t>(numbers.size());
  for (std::int64_t column = 0; column < width; ++column) {
    const double number = numbers[static_cast<std::size_t>(column)];
    const DropoutMaskRegion sheet{
        .rows = at::tensor({row}), .columns = at::tensor({column}), .width = width};
    draw.probability = std::ldexp(number, -32);
    EXPECT_TRUE(dropout_keep_mask(draw, sheet).item<bool>()) << column;
    draw.probability = std::ldexp(number + 1, -32);
    EXPECT_FALSE(dropout_keep_mask(draw, sheet).item<bool>()) << column;
  }
}

// The vectors "philox 4x32 10" of Random123's kat_vectors.
TEST(DropoutMask, HasThePublishedNumbers) {
  expect_numbers({}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_numbers({.seed = 0x299f31d0a4093822,
                  .step = 0x13198a2e,
                  .layer = 0x03707344 / 4 - 1,
                  .place = BlockDropoutKind::kEmbedding},
                 static_cast<std::int64_t>(0x85a308d3243f6a88),
                 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(DropoutMask, OfAPartIsPartOfTheMask) {
  const DropoutGeneratorInputs draw{.seed = 3, .step = 5, .layer = 2, .probability = 0.4};
  const at::Tensor whole =
      dropout_keep_mask(draw, {.rows = first(40), .columns = first(37), .width = 37});
  const at::Tensor rows = at::tensor({7, 39, 0, 8}, at::kLong);
  const at::Tensor columns = at::tensor({36, 2, 3, 4, 5, 20, 1}, at::kLong);
  const at::Tensor part = dropout_keep_mask(draw, {.rows = rows, .columns = columns, .width = 37});
  EXPECT_TRUE(part.equal(whole.index_select(0, rows).index_select(1, columns)));
}

TEST(DropoutMask, IsTheSameByTensors) {
  for (const std::int64_t width : {1, 6, 64}) {
    const DropoutMaskRegion sheet{
        .rows = at::tensor(std::vector<std::int64_t>{0, 5, 1 << 20, 3000000000000}),
        .columns = at::arange(width - 1, -1, -1, at::kLong),
        .width = width};
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0xfedcba9876543210}}) {
      const DropoutGeneratorInputs draw{.seed = seed,
                                        .step = 70000,
                                        .layer = 125,
                                        .place = BlockDropoutKind::kProbabilities,
                                        .probability = 0.5};
      EXPECT_TRUE(dropout_keep_mask_by_tensors(draw, sheet).equal(dropout_keep_mask(draw, sheet)))
          << width;
    }
  }
}

TEST(DropoutMask, DropsItsShareAndElsewhereOthers) {
  const DropoutMaskRegion sheet{.rows = first(400), .columns = first(250), .width = 250};
  const DropoutGeneratorInputs draw{.seed = 1, .step = 4, .layer = 2, .probability = 0.3};
  const at::Tensor kept = dropout_keep_mask(draw, sheet);
  // 100,000 elements: six standard deviations are 0.0087.
  const auto share = [](const at::Tensor& mask) {
    return mask.to(at::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(share(kept), 0.7, 0.0087);
  DropoutGeneratorInputs others[] = {draw, draw, draw, draw};
  others[0].seed = 2;
  others[1].step = 5;
  others[2].layer = 3;
  others[3].place = BlockDropoutKind::kProbabilities;
  for (const DropoutGeneratorInputs& other : others) {  // independent ones agree in p^2 + (1 - p)^2
    EXPECT_NEAR(share(kept.eq(dropout_keep_mask(other, sheet))), 0.58, 0.0095);
  }
}

}  // namespace
}  // namespace stepwright::runtime
