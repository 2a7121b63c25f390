#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_class_index.h"
#include "tests/model/random_architecture.h"

namespace stepwright::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ModelArchitecture read(const std::string& yaml) {
  const YamlJsonDocument document = YamlJsonDocument::parse(yaml, "job.yaml");
  return read_inline_model(document.root());
}

std::string error_of(const std::string& yaml) {
  try {
    read(yaml);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << yaml;
  return {};
}

constexpr char kTiny[] = "layers: 4\nhidden: 64\nheads: 4\nvocab: 1000\n";

std::string tiny(const std::string& more = "ffn: 128\n") { return kTiny + more; }

/// Expects a model to be read back from JSON, and from YAML as in a plan file.
void expect_round_trip(const ModelArchitecture& model) {
  const std::string json = inline_model_mapping(model).dump();
  EXPECT_EQ(read(json), model) << json;
  EXPECT_EQ(read(YamlJsonDocument::parse(json, "job.yaml").to_yaml()), model) << json;
}

TEST(InlineModel, EveryBuiltInModelRoundTrips) {
  for (const std::string_view name : built_in_model_names()) {
    expect_round_trip(built_in_model(name).value());
  }
}

TEST(InlineModel, RandomArchitecturesRoundTrip) {
  RandomArchitecture random(2024);
  for (int i = 0; i < 2000; ++i) {
    const ModelArchitecture model = random.make();
    ASSERT_NO_THROW(check_model_sizes(model, "model"));
    expect_round_trip(model);
  }
}

TEST(InlineModel, DefaultsAreLlamas) {
  ModelArchitecture expected;
  expected.name = "custom";
  expected.layers = 4;
  expected.hidden = 64;
  expected.heads = expected.kv_heads = 4;
  expected.head_dim = 16;
  expected.ffn = 128;
  expected.vocabulary = 1000;
  EXPECT_EQ(read(tiny()), expected);
}

TEST(InlineModel, LayerNormMakesTheDefaultsGpts) {
  const ModelArchitecture model = read(tiny("norm: layernorm\nbias: true\n"));
  EXPECT_TRUE(model.norm_bias);
  EXPECT_FALSE(model.gated);
  EXPECT_EQ(model.activation, ActivationFunction::kGelu);
  EXPECT_EQ(model.ffn, 256);
  EXPECT_TRUE(model.qkv_bias && model.attention_output_bias && model.mlp_bias);
  EXPECT_FALSE(model.head_bias);
}

TEST(InlineModel, OneBiasGoesBeforeAllBiases) {
  const ModelArchitecture model = read(tiny("ffn: 8\nbias: true\nmlp_bias: false\n"));
  EXPECT_TRUE(model.qkv_bias);
  EXPECT_FALSE(model.mlp_bias);
}

TEST(InlineModel, WindowsCoverAllOrTheNamedLayers) {
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(attention_windows_of_layers(read(tiny("ffn: 8\nwindow: 9\n"))), Windows(4, 9));
  EXPECT_EQ(attention_windows_of_layers(read(tiny("ffn: 8\nwindow: 9\nwindowed_layers: all\n"))),
            Windows(4, 9));
  EXPECT_EQ(attention_windows_of_layers(read(tiny("ffn: 8\nwindow: 9\nwindowed_layers: [0, 2]\n"))),
            (Windows{9, 0, 9, 0}));
  EXPECT_EQ(attention_windows_of_layers(read(tiny("ffn: 8\nwindow: [0, 1, 2, 3]\n"))),
            (Windows{0, 1, 2, 3}));
}

TEST(InlineModel, DenseLayersAddUp) {
  using Dense = std::vector<std::uint8_t>;
  const std::string experts = "ffn: 8\nexperts: {count: 8, top_k: 2, ffn: 16";
  EXPECT_TRUE(dense_layer_flags(read(tiny(experts + "}"))).empty());
  EXPECT_EQ(dense_layer_flags(read(tiny(experts + ", leading_dense: 1}"))), (Dense{1, 0, 0, 0}));
  EXPECT_EQ(dense_layer_flags(read(tiny(experts + ", every: 2}"))), (Dense{1, 0, 1, 0}));
  EXPECT_EQ(dense_layer_flags(read(tiny(experts + ", every: 2, dense_layers: [1]}"))),
            (Dense{1, 1, 1, 0}));
  EXPECT_THAT(error_of(tiny(experts + ", leading_dense: 4}")),
              HasSubstr("at least one layer with experts"));
  EXPECT_THAT(error_of(tiny(experts + ", dense_layers: [4]}")), HasSubstr("from 0 to 3"));
}

TEST(InlineModel, WidthOfTheMlpIsNotNeededWhereNoLayerHasOne) {
  EXPECT_EQ(read(tiny("experts: {count: 8, top_k: 2, ffn: 16}\n")).ffn, 0);
  EXPECT_THAT(error_of(tiny("experts: {count: 8, top_k: 2, ffn: 16, every: 2}\n")),
              HasSubstr("'ffn' is missing"));
}

TEST(InlineModel, LatentAttentionGivesTheHeadDimension) {
  const ModelArchitecture model = read(tiny("ffn: 8\nlatent: {kv_rank: 32}\n"));
  EXPECT_EQ(model.head_dim, 128 + 64);
  EXPECT_EQ(model.latent->kv_rank, 32);
  EXPECT_EQ(model.latent->query_rank, 0);
}

TEST(InlineModel, BaseGivesWhatIsNotNamed) {
  ModelArchitecture expected = built_in_model("llama-2-13b").value();
  expected.name = "llama-2-13b-custom";
  expected.vocabulary = 128000;
  EXPECT_EQ(read("base: llama-2-13b\nvocab: 128000\n"), expected);
}

TEST(InlineModel, BaseWorksInsideMappingsAndForOtherLayerCounts) {
  ModelArchitecture expected = built_in_model("deepseek-v3").value();
  expected.name = "small";
  expected.layers = 5;
  expected.experts->count = 16;
  expected.pattern.clear();
  assign_dense_mlp_layers(expected, {1, 1, 1, 0, 0});
  EXPECT_EQ(read("name: small\nbase: deepseek-v3\nlayers: 5\nexperts: {count: 16}\n"), expected);
  EXPECT_EQ(attention_windows_of_layers(read("base: mistral-7b\nlayers: 3\n")),
            (std::vector<std::int64_t>(3, 4096)));
}

TEST(InlineModel, NullTakesSomethingOutOfTheBase) {
  EXPECT_TRUE(attention_windows_of_layers(read("base: mistral-7b\nwindow: null\n")).empty());
  EXPECT_FALSE(read("base: deepseek-v3\nexperts: null\n").experts);
  EXPECT_FALSE(read("base: gpt2\nbias: false\n").mlp_bias);
}

TEST(InlineModel, UnknownBaseNamesTheNearest) {
  EXPECT_THAT(error_of("base: llama-3-8\n"),
              AllOf(HasSubstr("job.yaml:1:7: base"), HasSubstr("did you mean 'llama-3-8b'?")));
}

TEST(InlineModel, UnknownKeysNameTheNearest) {
  EXPECT_THAT(error_of(tiny("kv_head: 2\n")), HasSubstr("did you mean 'kv_heads'?"));
  EXPECT_THAT(error_of(tiny("latent: {kv_rnk: 2}\n")), HasSubstr("did you mean 'kv_rank'?"));
  EXPECT_THAT(error_of(tiny("experts: {topk: 2}\n")), HasSubstr("did you mean 'top_k'?"));
}

TEST(InlineModel, VersionMustBeOurs) {
  EXPECT_NO_THROW(read("stepwright: model/1\n" + tiny()));
  EXPECT_THAT(error_of("stepwright: job/1\n" + tiny()), HasSubstr("must be model/1"));
}

struct Wrong {
  const char* yaml;  ///< Lines after the tiny sizes.
  const char* message;
};

class WrongInlineModels : public testing::TestWithParam<Wrong> {};

TEST_P(WrongInlineModels, AreRefusedWithAReason) {
  EXPECT_THAT(error_of(tiny(GetParam().yaml)),
              AllOf(HasSubstr("job.yaml"), HasSubstr(GetParam().message)));
}

constexpr Wrong kWrong[] = {
    {"", "'ffn' is missing"},
    {"ffn: 0", "ffn: must be an integer from 1"},
    {"ffn: -5", "ffn"},
    {"ffn: .nan", "ffn"},
    {"ffn: 9223372036854775808", "ffn"},
    {"ffn: wide", "ffn"},
    {"ffn: 8\nkv_heads: 3", "kv_heads: 3 is not allowed"},
    {"ffn: 8\nhead_dim: 15", "even number of rotated elements"},
    {"ffn: 8\nrotary_fraction: 0", "rotary_fraction"},
    {"ffn: 8\nrotary_base: 1", "rotary_base"},
    {"ffn: 8\nnorm_epsilon: 1", "norm_epsilon"},
    {"ffn: 8\nrotary_scaling: {factor: 2}", "'kind' is missing"},
    {"ffn: 8\nrotary_scaling: {kind: linear, factor: 0.5}", "rotary_scaling.factor"},
    {"ffn: 8\nrotary_scaling: {kind: llama3, high_frequency: 1}", "rotary_scaling.high_frequency"},
    {"ffn: 8\nrotary_fraction: 0.35", "head_dim"},
    {"ffn: 8\nrotary_fraction: 2", "from 0 to 1"},
    {"ffn: 8\ndropout: 1", "dropout"},
    {"ffn: 8\nnorm: batchnorm", "rmsnorm, layernorm"},
    {"ffn: 8\nnorm_bias: true", "norm_bias"},
    {"ffn: 8\nposition: learned", "positions"},
    {"ffn: 8\nshared_input_norm: true", "parallel_residual"},
    {"ffn: 8\nwindow: 0", "window"},
    {"ffn: 8\nwindow: [0, 0, 0, 0]", "window"},
    {"ffn: 8\nwindow: [1]", "one per layer (4)"},
    {"ffn: 8\nwindow: [1, 1, 1, 1]\nwindowed_layers: [0]", "beside"},
    {"ffn: 8\nwindowed_layers: [0]", "without a window"},
    {"ffn: 8\nwindow: 4\nwindowed_layers: []", "window"},
    {"ffn: 8\nwindow: 4\nwindowed_layers: [4]", "from 0 to 3"},
    {"ffn: 8\nwindow: 4\nwindowed_layers: most", "all or a list"},
    {"ffn: 8\nlatent: 3", "latent"},
    {"ffn: 8\nlatent: {}\nkv_heads: 2", "latent attention"},
    {"ffn: 8\nlatent: {}\nhead_dim: 64", "latent.nope_head_dim"},
    {"ffn: 8\nlatent: {}\nqk_norm: true", "qk_norm"},
    {"ffn: 8\nlatent: {}\nqkv_bias: true", "qkv_bias"},
    {"ffn: 8\nexperts: {count: 8, ffn: 4}", "'top_k' is missing"},
    {"ffn: 8\nexperts: {count: 8, top_k: 9, ffn: 4}", "1 to 8"},
    {"mlp_bias: true\nexperts: {count: 8, top_k: 1, ffn: 4}", "mlp_bias"},
    {"experts: {count: 8, top_k: 1, ffn: 4, shared_gate: true}", "shared_gate"},
};

INSTANTIATE_TEST_SUITE_P(Mappings, WrongInlineModels, testing::ValuesIn(kWrong));

TEST(InlineModel, LayersAreLimited) {
  EXPECT_THAT(error_of("layers: 65537\nhidden: 64\nheads: 4\nvocab: 10\nffn: 8\n"),
              HasSubstr("layers: must be an integer from 1 to 4096"));
  EXPECT_THAT(error_of("hidden: 64\nheads: 4\nvocab: 10\nffn: 8\n"),
              HasSubstr("'layers' is missing"));
}

TEST(InlineModel, IndivisibleHeadsNeedAHeadDimension) {
  EXPECT_THAT(error_of("layers: 1\nhidden: 63\nheads: 4\nvocab: 10\nffn: 8\n"),
              HasSubstr("hidden (63) is not a multiple of heads (4)"));
  EXPECT_EQ(read("layers: 1\nhidden: 63\nheads: 4\nvocab: 10\nffn: 8\nhead_dim: 16\n").head_dim,
            16);
}

}  // namespace
}  // namespace stepwright::model
