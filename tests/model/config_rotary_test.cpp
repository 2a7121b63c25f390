#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stepwright/model/layer_class_index.h"
#include "tests/model/tiny_config.h"

namespace stepwright::model {
namespace {

using testing::HasSubstr;

TEST(ConfigRotary, FractionMayStandInEachLayerType) {
  const auto fraction = [](std::string_view more) {
    return read_tiny("gpt_neox", more).rotary_fraction;
  };
  EXPECT_EQ(fraction(""), 0.25);
  EXPECT_EQ(fraction(R"("rotary_pct": 0.5)"), 0.5);
  EXPECT_EQ(fraction(R"("rope_parameters": {"partial_rotary_factor": 0.5})"), 0.5);
  EXPECT_EQ(fraction(R"("rope_parameters": {"full_attention": {"partial_rotary_factor": 0.5}})"),
            0.5);
  EXPECT_EQ(fraction(R"("rope_parameters": {"full_attention": {"rope_theta": 1e4}})"), 0.25);
  EXPECT_THAT(unsupported(tiny("gpt_neox", R"("rope_parameters": {
                               "full_attention": {"partial_rotary_factor": 0.5},
                               "sliding_attention": {"partial_rotary_factor": 1}})")),
              HasSubstr("different shares"));
}

TEST(ConfigRotary, BaseHasManySpellings) {
  const auto base = [](std::string_view type, std::string_view more) {
    return read_tiny(type, more).rotary_base;
  };
  EXPECT_EQ(base("llama", ""), 1e4);
  EXPECT_EQ(base("mixtral", R"("num_key_value_heads": 2)"), 1e6);
  EXPECT_EQ(base("llama", R"("rope_theta": 500000)"), 5e5);
  EXPECT_EQ(base("llama", R"("rope_parameters": {"rope_theta": 3e5})"), 3e5);
  EXPECT_EQ(base("gpt_neox", R"("rotary_emb_base": 25000)"), 25000);
  EXPECT_THAT(input_error(tiny("llama", R"("rope_theta": 1)")), HasSubstr("above 1"));
}

TEST(ConfigRotary, ScalingIsKept) {
  const auto scaling = [](std::string_view more) {
    return read_tiny("llama", more).rotary_scaling;
  };
  EXPECT_FALSE(scaling(R"("rope_scaling": null)"));
  EXPECT_FALSE(scaling(R"("rope_parameters": {"rope_type": "default", "rope_theta": 1e4})"));
  EXPECT_EQ(scaling(R"("rope_scaling": {"type": "linear", "factor": 2})"),
            (RotaryScaling{.kind = RotaryScalingKind::kLinear, .factor = 2}));
  EXPECT_EQ(scaling(R"("rope_scaling": {"rope_type": "llama3", "factor": 4, "low_freq_factor": 2,
                        "high_freq_factor": 3, "original_max_position_embeddings": 64})"),
            (RotaryScaling{RotaryScalingKind::kLlama3, 4, 2, 3, 64}));
  EXPECT_EQ(scaling(R"("rope_scaling": {"rope_type": "new one"})")->kind,
            RotaryScalingKind::kOther);
}

TEST(ConfigRotary, NumbersAreThoseOfTheLayerTypesThatTheModelHas) {
  const std::string both = R"("rope_parameters": {"full_attention": {"rope_theta": 5e5},
                               "sliding_attention": {"rope_theta": 2e4}},
                              "num_key_value_heads": 2)";
  EXPECT_EQ(read_tiny("qwen3", both).rotary_base, 5e5);
  EXPECT_EQ(read_tiny("mistral", both + R"(, "sliding_window": 8)").rotary_base, 2e4);
  const std::string mixed = both + R"(, "use_sliding_window": true, "sliding_window": 8,
                                       "max_window_layers": 2)";
  EXPECT_EQ(read_tiny("qwen3", mixed).rotary_base, 5e5);
  EXPECT_EQ(read_tiny("qwen3", mixed).window_rotary_base, 2e4);
}

TEST(ConfigRotary, SharesMatterWhereLayersTurnShares) {
  const auto fraction = [](std::string_view type, std::string_view more) {
    return read_tiny(type, more).rotary_fraction;
  };
  EXPECT_EQ(fraction("llama", R"("partial_rotary_factor": 0.5)"), 1);
  EXPECT_EQ(fraction("llama", R"("rope_parameters": {"partial_rotary_factor": 0.5})"), 1);
  EXPECT_EQ(fraction("phi3", R"("partial_rotary_factor": 0.75)"), 0.75);
  EXPECT_EQ(fraction("gpt_neox", R"("partial_rotary_factor": 0.5,
                                    "rope_scaling": {"partial_rotary_factor": 0.75})"),
            0.75);
}

TEST(ConfigRotary, StretchesHaveNumbersOfTheirOwn) {
  const auto scaling = [](std::string_view type, std::string_view more) {
    return read_tiny(type, fmt::format(R"("max_position_embeddings": 256, {})", more))
        .rotary_scaling.value();
  };
  RotaryScaling yarn = usual_rotary_scaling(RotaryScalingKind::kYarn);
  yarn.factor = 4;
  yarn.original_positions = 256;
  EXPECT_EQ(scaling("llama", R"("rope_scaling": {"rope_type": "yarn", "factor": 4})"), yarn);
  yarn = {.kind = RotaryScalingKind::kYarn,
          .factor = 8,
          .low_frequency = 2,
          .high_frequency = 16,
          .original_positions = 32,
          .rounded = false,
          .mscale = 0.7,
          .mscale_all_dim = 0.9};
  EXPECT_EQ(scaling("llama", R"("rope_parameters": {"rope_type": "yarn", "factor": null,
      "beta_slow": 2, "beta_fast": 16, "original_max_position_embeddings": 32, "truncate": false,
      "mscale": 0.7, "mscale_all_dim": 0.9})"),
            yarn);
  const RotaryScaling lists{.kind = RotaryScalingKind::kLongRope,
                            .factor = 4,
                            .original_positions = 64,
                            .attention_factor = 1.5,
                            .short_factors = {1, 1, 1, 1, 2, 2, 2, 2},
                            .long_factors = {1, 2, 3, 4, 5, 6, 7, 8}};
  for (const std::string_view word : {"longrope", "su", "yarn"}) {
    EXPECT_EQ(scaling("phi3", fmt::format(R"("original_max_position_embeddings": 64,
        "rope_scaling": {{"type": "{}", "attention_factor": 1.5,
        "short_factor": [1, 1, 1, 1, 2, 2, 2, 2], "long_factor": [1, 2, 3, 4, 5, 6, 7, 8]}})",
                                          word)),
              lists);
  }
  EXPECT_THAT(input_error(tiny("phi3", R"("rope_scaling": {"type": "su", "short_factor": [1],
                                          "long_factor": [1]})")),
              HasSubstr("one for each of the 8 pairs"));
  EXPECT_THAT(input_error(tiny("phi3", R"("rope_scaling": {"type": "longrope"})")),
              HasSubstr("'short_factor' is missing"));
}

TEST(ConfigRotary, NumbersOfTheClassStandWhereAFileHasNone) {
  EXPECT_EQ(read_tiny("cohere").rotary_base, 5e5);
  EXPECT_EQ(read_tiny("ernie4_5", R"("num_key_value_heads": 2)").rotary_base, 5e5);
  EXPECT_EQ(read_tiny("olmo3").rotary_base, 5e5);
  const ModelArchitecture cwm = read_tiny("cwm", R"("num_key_value_heads": 2)");
  EXPECT_EQ(cwm.rotary_base, 1e6);
  EXPECT_EQ(cwm.rotary_scaling->factor, 16);
}

TEST(ConfigRotary, AFixedStretchIsABase) {
  const ModelArchitecture model = read_tiny("hunyuan_v1_dense", R"("head_dim": 8,
      "rope_scaling": {"type": "dynamic", "alpha": 1000, "factor": 1})");
  EXPECT_FALSE(model.rotary_scaling);
  EXPECT_DOUBLE_EQ(model.rotary_base, 1e4 * std::pow(1000, 8.0 / 6));
}

TEST(ConfigRotary, LayersMayHaveBasesOfTheirOwn) {
  const auto model = [](std::string_view bases) {
    return fmt::format(R"("num_key_value_heads": 2, "rope_theta": 50, "layer_rope_theta": {},
        "layer_types": ["full_attention", "sliding_attention", "full_attention",
                        "sliding_attention"])",
                       bases);
  };
  const ModelArchitecture read = read_tiny("granite_swa", model("[0, 300, 700, 300]"));
  EXPECT_EQ(read.rotary_base, 700);
  EXPECT_EQ(read.window_rotary_base, 300);
  EXPECT_FALSE(model_layer_classes(read).at(0).rotated);
  EXPECT_TRUE(model_layer_classes(read).at(2).rotated);
  EXPECT_THAT(unsupported(tiny("granite_swa", model("[300, 300, 700, 300]"))),
              HasSubstr("layers of one type"));
  EXPECT_THAT(input_error(tiny("granite_swa", model("[300]"))), HasSubstr("one per layer (4)"));
}

}  // namespace
}  // namespace stepwright::model
