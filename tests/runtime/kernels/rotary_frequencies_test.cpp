#include "stepwright/runtime/kernels/rotary_frequencies.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

TEST(RotaryFrequencies, AreAGeometricSeriesOfTheRotatedPairs) {
  Architecture model{.head_dim = 16, .rotary_fraction = 0.5, .rotary_base = 81};
  const std::vector<double> found = rotary_frequencies(model, {}, 64);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], std::pow(3.0, -static_cast<double>(i)), 1e-15);
  }
  model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kLinear, .factor = 4};
  EXPECT_EQ(rotary_frequencies(model, {}, 64)[1], found[1] / 4);
}

TEST(RotaryFrequencies, OfLayersWithAWindowHaveTheirOwnBaseUnscaled) {
  Architecture model{.head_dim = 8, .rotary_base = 16, .window_rotary_base = 81};
  model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kLinear, .factor = 4};
  EXPECT_NEAR(rotary_frequencies(model, {.window = 4}, 64)[1], 1.0 / 3, 1e-15);
  EXPECT_NEAR(rotary_frequencies(model, {}, 64)[1], 0.5 / 4, 1e-15);
}

/// A base of 4 of 8 turned elements, four times as far as the model states: 4 (2 x 4 - 1)^(8 / 6).
TEST(RotaryFrequencies, OfLongerSequencesTurnSlower) {
  Architecture model{.head_dim = 8, .positions = 16, .rotary_base = 4};
  const std::vector<double> plain = rotary_frequencies(model, {}, 64);
  model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kDynamic, .factor = 2};
  EXPECT_EQ(rotary_frequencies(model, {}, 16), plain);
  const double base = 4 * std::pow(7, 8.0 / 6);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(rotary_frequencies(model, {}, 64)[i], std::pow(base, -static_cast<double>(i) / 4),
                1e-15);
  }
}

/// Numbers of transformers 5.23 (`_compute_llama3_parameters`, fp32) for the same model.
TEST(RotaryFrequencies, OfLlama3AreThoseOfTransformers) {
  const std::vector<double> found =
      rotary_frequencies(built_in_model("llama-3.1-8b").value(), {}, 64);
  ASSERT_EQ(found.size(), 64U);
  const auto expect = [&](std::size_t i, double value) {
    EXPECT_NEAR(found[i], value, 1e-6 * value) << i;
  };
  expect(0, 1.0);
  expect(20, 0.016560440883040428);
  expect(28, 0.0032114461064338684);  // the last that is kept
  expect(29, 0.0021665706299245358);
  expect(32, 0.0005248460220173001);
  expect(34, 0.0001785077911335975);
  expect(35, 9.556212171446532e-05);  // the first that is divided
  expect(63, 3.068925877869333e-07);
}

}  // namespace
}  // namespace stepwright
