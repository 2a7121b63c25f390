#include "stepwright/runtime/kernels/rotary_frequencies.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "stepwright/model/catalog.h"

namespace stepwright::runtime {
namespace {

TEST(RotaryFrequencies, AreAGeometricSeriesOfTheRotatedPairs) {
  model::ModelArchitecture model{.head_dim = 16, .rotary_fraction = 0.5, .rotary_base = 81};
  const std::vector<double> found = rotary_frequencies(model, {}, 64);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], std::pow(3.0, -static_cast<double>(i)), 1e-15);
  }
  model.rotary_scaling =
      model::RotaryScaling{.kind = model::RotaryScalingKind::kLinear, .factor = 4};
  EXPECT_EQ(rotary_frequencies(model, {}, 64)[1], found[1] / 4);
}

TEST(RotaryFrequencies, OfLayersWithAWindowHaveTheirOwnBaseUnscaled) {
  model::ModelArchitecture model{.head_dim = 8, .rotary_base = 16, .window_rotary_base = 81};
  model.rotary_scaling =
      model::RotaryScaling{.kind = model::RotaryScalingKind::kLinear, .factor = 4};
  EXPECT_NEAR(rotary_frequencies(model, {.window = 4}, 64)[1], 1.0 / 3, 1e-15);
  EXPECT_NEAR(rotary_frequencies(model, {}, 64)[1], 0.5 / 4, 1e-15);
}

/// A base of 4 over 8 rotated elements, four times the stated length: 4 (2 x 4 - 1)^(8 / 6).
TEST(RotaryFrequencies, OfLongerSequencesTurnSlower) {
  model::ModelArchitecture model{.head_dim = 8, .positions = 16, .rotary_base = 4};
  const std::vector<double> plain = rotary_frequencies(model, {}, 64);
  model.rotary_scaling =
      model::RotaryScaling{.kind = model::RotaryScalingKind::kDynamic, .factor = 2};
  EXPECT_EQ(rotary_frequencies(model, {}, 16), plain);
  const double base = 4 * std::pow(7, 8.0 / 6);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(rotary_frequencies(model, {}, 64)[i], std::pow(base, -static_cast<double>(i) / 4),
                1e-15);
  }
}

/// Values of transformers 5.23 (`_compute_llama3_parameters`, fp32) for the same model.
TEST(RotaryFrequencies, OfLlama3AreThoseOfTransformers) {
  const std::vector<double> found =
      rotary_frequencies(model::built_in_model("llama-3.1-8b").value(), {}, 64);
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

/// Values of transformers 5.23 (`_compute_yarn_parameters`, fp32): frequencies change between pairs
/// 10 and 23.
TEST(RotaryFrequencies, OfYarnAreThoseOfTransformers) {
  const model::ModelArchitecture model = model::built_in_model("deepseek-v3").value();
  const std::vector<double> found = rotary_frequencies(model, {}, 64);
  ASSERT_EQ(found.size(), 32U);
  const std::pair<std::size_t, double> expected[] = {
      {0, 1.0},
      {9, 0.07498941570520401},
      {10, 0.05623412877321243},  // the last that is kept
      {11, 0.039006926119327545},
      {16, 0.005500000435858965},
      {23, 3.333803397254087e-05},  // the first that is divided
      {31, 3.3338035336782923e-06}};
  for (const auto& [pair, value] : expected) EXPECT_NEAR(found[pair], value, 1e-6 * value) << pair;
  EXPECT_EQ(rotary_embedding_amplitude(model, {}), 1);
  const double mscale = 0.1 * std::log(40) + 1;
  EXPECT_DOUBLE_EQ(attention_score_scale(model), mscale * mscale / std::sqrt(192));
}

/// Frequencies of gpt-oss, where the ends of the change are not whole numbers of pairs.
TEST(RotaryFrequencies, OfYarnBetweenPairs) {
  const model::ModelArchitecture model = model::built_in_model("gpt-oss-20b").value();
  const std::vector<double> found = rotary_frequencies(model, {}, 64);
  const std::pair<std::size_t, double> expected[] = {{8, 0.05081327259540558},
                                                     {9, 0.031705696135759354},
                                                     {12, 0.006794959306716919},
                                                     {17, 0.00012931869423482567},
                                                     {18, 3.830881178146228e-05}};
  for (const auto& [pair, value] : expected) EXPECT_NEAR(found[pair], value, 1e-6 * value) << pair;
  EXPECT_NEAR(rotary_embedding_amplitude(model, {}), 1.3465735902799727, 1e-12);
  EXPECT_DOUBLE_EQ(attention_score_scale(model), 1 / std::sqrt(64));
}

/// A base of 16: frequencies 1 and 1/4, divided by the factors for short and for long sequences.
TEST(RotaryFrequencies, OfLongSequencesHaveFactorsOfTheirOwn) {
  model::ModelArchitecture model{.head_dim = 4, .rotary_base = 16};
  model.rotary_scaling = model::RotaryScaling{.kind = model::RotaryScalingKind::kLongRope,
                                              .factor = 4,
                                              .original_positions = 1024,
                                              .short_factors = {1, 2},
                                              .long_factors = {4, 8}};
  EXPECT_EQ(rotary_frequencies(model, {}, 1024), (std::vector<double>{1, 0.125}));
  EXPECT_EQ(rotary_frequencies(model, {}, 1025), (std::vector<double>{0.25, 0.03125}));
  EXPECT_DOUBLE_EQ(rotary_embedding_amplitude(model, {}), std::sqrt(1 + 0.2));
  model.rotary_scaling->attention_factor = 3;
  EXPECT_EQ(rotary_embedding_amplitude(model, {}), 3);
}

}  // namespace
}  // namespace stepwright::runtime
