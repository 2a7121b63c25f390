#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <string>

#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_class_index.h"
#include "tests/model/tiny_config.h"

namespace stepwright::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kFolder[] = "tests/model/configs";

struct File {
  std::string_view file;
  std::string_view model;
};

class PublishedConfigs : public testing::TestWithParam<File> {};

TEST_P(PublishedConfigs, ReadAsTheBuiltInModel) {
  const std::string path = fmt::format("{}/{}.json", kFolder, GetParam().file);
  ModelArchitecture read = read_huggingface_config(YamlJsonDocument::load(path));
  ModelArchitecture expected = built_in_model(GetParam().model).value();
  expected.name = read.name;
  expected.encoder = read.encoder;
  EXPECT_EQ(read, expected) << fmt::format("as read: {}", path);
}

constexpr File kFiles[] = {
    {"deepseek-v3", "deepseek-v3"},
    {"deepseek-v3-v5", "deepseek-v3"},
    {"gpt-neox-20b", "gpt-neox-20b"},
    {"gpt2", "gpt2"},
    {"gpt2-xl-v5", "gpt2-xl"},
    {"llama-2-7b", "llama-2-7b"},
    {"llama-3.1-8b", "llama-3.1-8b"},
    {"llama-3.1-8b-v5", "llama-3.1-8b"},
    {"llama-3.2-1b", "llama-3.2-1b"},
    {"llama-30b", "llama-30b"},
    {"mistral-7b", "mistral-7b"},
    {"mistral-7b-v0.3", "mistral-7b-v0.3"},
    {"mistral-7b-v0.3-v5", "mistral-7b-v0.3"},
    {"mixtral-8x22b-v5", "mixtral-8x22b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"moonlight-16b-a3b", "moonlight-16b-a3b"},
    {"multimodal-mistral", "mistral-7b"},
    {"pythia-1.4b-v5", "pythia-1.4b"},
    {"qwen2-57b-a14b", "qwen2-57b-a14b"},
    {"qwen2.5-7b", "qwen2.5-7b"},
    {"qwen3-0.6b", "qwen3-0.6b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-30b-a3b-v5", "qwen3-30b-a3b"},
    {"qwen3-8b-v5", "qwen3-8b"},
};

INSTANTIATE_TEST_SUITE_P(Files, PublishedConfigs, testing::ValuesIn(kFiles), [](const auto& row) {
  std::string name(row.param.file);
  for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
  return name;
});

/// Returns a config with a language model beside an image encoder.
std::string with_encoder(const std::string& type, const std::string& vision) {
  return R"({"model_type": ")" + type + R"(", "tie_word_embeddings": true, "vision_config": )" +
         vision + R"(, "text_config": )" + tiny("llama", R"("tie_word_embeddings": false)") + "}";
}

ModelArchitecture read_encoded(const std::string& type, const std::string& vision) {
  return read_huggingface_config(
      YamlJsonDocument::parse(with_encoder(type, vision), "models/tiny/config.json"));
}

TEST(Config, EncodersAreCountedBesideTheLanguageModel) {
  const ModelArchitecture model = read_encoded(
      "llava", R"({"model_type": "clip_vision_model", "hidden_size": 8, "num_hidden_layers": 2,
                   "intermediate_size": 16, "image_size": 8, "patch_size": 4})");
  const ImageEncoder& encoder = model.encoder.value();
  const std::int64_t layer = 4 * (8 * 8 + 8) + 2 * 8 * 16 + 16 + 8 + 2 * 2 * 8;
  EXPECT_EQ(encoder.parameters, 2 * layer + 48 * 8 + 5 * 8 + 8 + 2 * 2 * 8);
  EXPECT_EQ(encoder.projector, (8 + 1) * model.hidden + (model.hidden + 1) * model.hidden);
  EXPECT_EQ(encoder.patches, 4);
  EXPECT_EQ(encoder.layers, 2);
  EXPECT_FALSE(encoder.any_size);
  EXPECT_TRUE(encoder.is_encoder_in_training_step());
  EXPECT_TRUE(model.tied);  // The configuration around the language model decides.
  ModelArchitecture alone = read_tiny("llama", R"("tie_word_embeddings": true)");
  alone.encoder = encoder;
  EXPECT_EQ(model, alone);
}

TEST(Config, UnknownEncodersAreNamed) {
  const ImageEncoder encoder = read_encoded("llava", R"({"model_type": "radio"})").encoder.value();
  EXPECT_EQ(encoder.name, "radio");
  EXPECT_EQ(encoder.parameters, 0);
  EXPECT_EQ(read_encoded("other", R"({"model_type": "pixtral"})").encoder->parameters, 0);
}

TEST(Config, BadSizesOfEncodersAreRefused) {
  const auto error = [](const std::string& keys) {
    return input_error(
        with_encoder("llava", R"({"model_type": "clip_vision_model", )" + keys + "}"));
  };
  EXPECT_THAT(error(R"("hidden_size": 0)"), HasSubstr("vision_config.hidden_size"));
  EXPECT_THAT(error(R"("hidden_size": 99999999999)"), HasSubstr("vision_config.hidden_size"));
  EXPECT_THAT(error(R"("num_hidden_layers": "two")"), HasSubstr("num_hidden_layers"));
  EXPECT_THAT(error(R"("image_size": [8])"), HasSubstr("a list of two"));
}

TEST(Config, EveryFixtureIsRead) {
  std::set<std::string> named;
  for (const File& file : kFiles) named.insert(fmt::format("{}.json", file.file));
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_EQ(named.count(entry.path().filename().string()), 1U) << entry.path();
  }
}

TEST(Config, NameIsTheLastPartOfItsPathOrOfItsFolder) {
  EXPECT_EQ(read_tiny("llama", R"("_name_or_path": "meta-llama/Llama-2-7b-hf/")").name,
            "Llama-2-7b-hf");
  EXPECT_EQ(read_tiny("llama", R"("_name_or_path": "")").name, "tiny");
  EXPECT_EQ(read_huggingface_config(YamlJsonDocument::parse(tiny("llama"), "a/mine.json")).name,
            "mine");
  for (const char* path : {"config.json", "./config.json", "../config.json", "a/../config.json"}) {
    EXPECT_EQ(read_huggingface_config(YamlJsonDocument::parse(tiny("llama"), path)).name, "config")
        << path;
  }
  EXPECT_EQ(read_huggingface_config(YamlJsonDocument::parse(tiny("llama"), "a/./config.json")).name,
            "a");
}

TEST(Config, NullKeyValueHeadsMeanAllHeads) {
  for (const auto* type : {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe"}) {
    EXPECT_EQ(read_tiny(type, R"("num_key_value_heads": null)").kv_heads, 4) << type;
  }
  EXPECT_EQ(read_tiny("llama").kv_heads, 4);
}

TEST(Config, AbsentKeyValueHeadsAreTheClassDefault) {
  EXPECT_EQ(read_tiny("qwen3_moe").kv_heads, 4);
  EXPECT_THAT(input_error(tiny("mistral")),
              AllOf(HasSubstr("num_key_value_heads"), HasSubstr("8 is not allowed"),
                    HasSubstr("divisor of num_attention_heads (4)")));
}

TEST(Config, HeadDimIsWhatTheFileOrTheClassSays) {
  EXPECT_EQ(read_tiny("llama", R"("head_dim": null)").head_dim, 16);
  EXPECT_EQ(read_tiny("llama", R"("head_dim": 32)").head_dim, 32);
  EXPECT_EQ(read_tiny("qwen3", R"("num_key_value_heads": 2)").head_dim, 128);
  EXPECT_EQ(read_tiny("qwen3", R"("num_key_value_heads": 2, "head_dim": 8)").head_dim, 8);
}

TEST(Config, DropoutOfTheFileIsNotApplied) {
  EXPECT_EQ(
      read_huggingface_config(YamlJsonDocument::load("tests/model/configs/gpt2.json")).dropout, 0);
  EXPECT_EQ(read_tiny("llama", R"("attention_dropout": 0.1)").dropout, 0);
}

TEST(Config, BiasesFollowTheFamily) {
  EXPECT_TRUE(read_tiny("llama", R"("attention_bias": true)").attention_output_bias);
  EXPECT_TRUE(read_tiny("llama", R"("mlp_bias": true)").mlp_bias);
  const ModelArchitecture qwen = read_tiny("qwen2", R"("num_key_value_heads": 2)");
  EXPECT_TRUE(qwen.qkv_bias);
  EXPECT_FALSE(qwen.attention_output_bias);
  const ModelArchitecture neox = read_tiny("gpt_neox", R"("attention_bias": false)");
  EXPECT_FALSE(neox.qkv_bias);
  EXPECT_TRUE(neox.mlp_bias);
}

TEST(Config, MistralWindowsAllLayersUnlessNull) {
  const std::string heads = R"("num_key_value_heads": 2)";
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(attention_windows_of_layers(read_tiny("mistral", heads)), Windows(4, 4096));
  EXPECT_EQ(attention_windows_of_layers(read_tiny("mistral", heads + R"(, "sliding_window": 7)")),
            Windows(4, 7));
  EXPECT_TRUE(
      attention_windows_of_layers(read_tiny("mistral", heads + R"(, "sliding_window": null)"))
          .empty());
}

TEST(Config, QwenWindowsLayersFromMaxWindowLayersOnIfSwitchedOn) {
  const std::string rest =
      R"("num_key_value_heads": 2, "sliding_window": 9, "max_window_layers": 3)";
  EXPECT_TRUE(attention_windows_of_layers(read_tiny("qwen2", rest)).empty());
  EXPECT_TRUE(
      attention_windows_of_layers(read_tiny("qwen2", rest + R"(, "use_sliding_window": false)"))
          .empty());
  const std::string on = rest + R"(, "use_sliding_window": true)";
  EXPECT_EQ(attention_windows_of_layers(read_tiny("qwen2", on)),
            (std::vector<std::int64_t>{0, 0, 0, 9}));
  EXPECT_EQ(attention_windows_of_layers(read_tiny("qwen3", on)),
            (std::vector<std::int64_t>{0, 0, 0, 9}));
  EXPECT_EQ(attention_windows_of_layers(read_tiny("qwen3_moe", on)),
            (std::vector<std::int64_t>{9, 9, 9, 9}));
  EXPECT_EQ(attention_windows_of_layers(read_tiny("qwen2_moe", on)),
            (std::vector<std::int64_t>{9, 0, 9, 0}));
}

TEST(Config, LayerTypesWin) {
  const std::string rest =
      R"("num_key_value_heads": 2, "sliding_window": 9, "layer_types":
         ["sliding_attention", "full_attention", "sliding_attention", "full_attention"])";
  const std::vector<std::int64_t> expected = {9, 0, 9, 0};
  EXPECT_EQ(attention_windows_of_layers(read_tiny("qwen2", rest)), expected);
  EXPECT_EQ(attention_windows_of_layers(read_tiny("mistral", rest)), expected);
  EXPECT_EQ(attention_windows_of_layers(read_tiny(
                "qwen2", rest + R"(, "use_sliding_window": true, "max_window_layers": 0)")),
            expected);
}

TEST(Config, QwenExpertsSkipSparseStepsAndNamedLayers) {
  using Dense = std::vector<std::uint8_t>;
  EXPECT_EQ(dense_layer_flags(read_tiny("qwen3_moe", R"("decoder_sparse_step": 2)")),
            (Dense{1, 0, 1, 0}));
  EXPECT_EQ(dense_layer_flags(read_tiny("qwen3_moe", R"("mlp_only_layers": [0, 3, 77])")),
            (Dense{1, 0, 0, 1}));
  EXPECT_TRUE(dense_layer_flags(read_tiny("qwen3_moe")).empty());
  EXPECT_FALSE(read_tiny("qwen3_moe", R"("decoder_sparse_step": 5)").experts);
  EXPECT_FALSE(read_tiny("qwen3_moe", R"("num_experts": 0)").experts);
}

TEST(Config, ExpertCountsAcceptBothSpellingsIfTheyAgree) {
  EXPECT_EQ(read_tiny("qwen3_moe", R"("num_local_experts": 16)").experts->count, 16);
  EXPECT_EQ(read_tiny("qwen3_moe", R"("num_experts": 16, "num_local_experts": 16)").experts->count,
            16);
  EXPECT_THAT(input_error(tiny("qwen3_moe", R"("num_experts": 16, "num_local_experts": 8)")),
              HasSubstr("must equal num_experts (16)"));
}

TEST(Config, WeightsOfTheTopKAddUpWhereTheFileOrTheFamilySaysSo) {
  const std::string heads = R"("num_key_value_heads": 2)";
  EXPECT_TRUE(read_tiny("mixtral", heads).experts->normalize_top_k);
  EXPECT_FALSE(read_tiny("qwen2_moe", heads).experts->normalize_top_k);
  EXPECT_FALSE(read_tiny("qwen3_moe").experts->normalize_top_k);
  EXPECT_TRUE(read_tiny("qwen3_moe", R"("norm_topk_prob": true)").experts->normalize_top_k);
  EXPECT_TRUE(read_tiny("deepseek_v3").experts->normalize_top_k);
  EXPECT_FALSE(read_tiny("deepseek_v3", R"("norm_topk_prob": false)").experts->normalize_top_k);
}

TEST(Config, DeepSeekRoutesByGroups) {
  const MixtureOfExperts usual = *read_tiny("deepseek_v3").experts;
  EXPECT_EQ(usual.scoring, RouterScoring::kSigmoid);
  EXPECT_TRUE(usual.correction_bias);
  EXPECT_EQ(usual.groups, 8);
  EXPECT_EQ(usual.top_groups, 4);
  EXPECT_EQ(usual.scale, 2.5);
  const MixtureOfExperts other =
      *read_tiny("deepseek_v3", R"("n_group": 4, "topk_group": 2, "routed_scaling_factor": 1.5)")
           .experts;
  EXPECT_EQ(other.groups, 4);
  EXPECT_EQ(other.top_groups, 2);
  EXPECT_EQ(other.scale, 1.5);
  const MixtureOfExperts greedy = *read_tiny("deepseek_v3", R"("topk_method": "greedy")").experts;
  EXPECT_EQ(greedy.groups, 1);
  EXPECT_EQ(greedy.scoring, RouterScoring::kSoftmax);
  EXPECT_THAT(input_error(tiny("deepseek_v3", R"("n_group": 3)")), HasSubstr("a divisor of"));
}

TEST(Config, DeepSeekPlacesItsExperts) {
  using Dense = std::vector<std::uint8_t>;
  EXPECT_EQ(dense_layer_flags(read_tiny("deepseek_v3")), (Dense{1, 1, 1, 0}));
  EXPECT_EQ(dense_layer_flags(
                read_tiny("deepseek_v3", R"("first_k_dense_replace": 1, "moe_layer_freq": 2)")),
            (Dense{1, 1, 0, 1}));
  EXPECT_FALSE(read_tiny("deepseek_v3", R"("first_k_dense_replace": 4)").experts);
  EXPECT_FALSE(read_tiny("deepseek_v3", R"("n_routed_experts": null)").experts);
  const ModelArchitecture plain =
      read_tiny("deepseek_v3", R"("n_shared_experts": null, "topk_method": "greedy")");
  EXPECT_EQ(plain.experts->shared_ffn, 0);
  EXPECT_FALSE(plain.experts->correction_bias);
}

TEST(Config, ExpertsMayBeListedByLayer) {
  const auto top_k = [](std::string_view list) {
    return fmt::format(R"("num_experts": 8, "moe_topk": {}, "head_dim": 16)", list);
  };
  EXPECT_EQ(read_tiny("hunyuan_v1_moe", top_k("[2, 2, 2, 2]")).experts->top_k, 2);
  EXPECT_EQ(read_tiny("hunyuan_v1_moe", top_k("2")).experts->top_k, 2);
  EXPECT_THAT(unsupported(tiny("hunyuan_v1_moe", top_k("[2, 2, 1, 2]"))),
              HasSubstr("differ between layers"));
}

TEST(Config, CountsHaveMoreThanOneSpelling) {
  const auto count = [](std::string_view type, std::string_view more) {
    return read_tiny(type, more).experts->count;
  };
  EXPECT_EQ(count("mixtral", R"("num_key_value_heads": 2, "num_experts": 6)"), 6);
  EXPECT_EQ(count("deepseek_v2", R"("num_experts": 6, "num_experts_per_tok": 2)"), 6);
  EXPECT_EQ(count("minimax_m2", R"("num_key_value_heads": 2, "num_experts": 9)"), 9);
}

TEST(Config, WhatIsNotDescribedIsNamed) {
  const auto beyond = [](std::string_view type, std::string_view more) {
    return read_tiny(type, more).beyond;
  };
  EXPECT_EQ(beyond("olmo", ""), "");
  EXPECT_THAT(beyond("olmo", R"("clip_qkv": 8)"), HasSubstr("clipped"));
  EXPECT_THAT(beyond("mpt", R"("d_model": 64, "n_heads": 4, "n_layers": 2,
                               "attn_config": {"clip_qkv": 6})"),
              HasSubstr("clipped"));
  EXPECT_THAT(beyond("mamba", R"("hidden_act": "gelu")"), HasSubstr("activation"));
  EXPECT_THAT(beyond("hunyuan_v1_dense", R"("head_dim": 16)"), HasSubstr("rotation"));
  EXPECT_THAT(beyond("gpt_oss", R"("num_key_value_heads": 2, "swiglu_limit": 3)"),
              HasSubstr("bound"));
  EXPECT_THAT(beyond("mamba2", R"("num_heads": 8, "head_dim": 16, "n_groups": 1,
                                  "time_step_limit": [0.001, 0.1])"),
              HasSubstr("limits"));
}

TEST(Config, EpsilonsOfNormsFollowTheFamily) {
  EXPECT_EQ(read_tiny("llama").norm_epsilon, 1e-6);
  EXPECT_EQ(read_tiny("mixtral", R"("num_key_value_heads": 2)").norm_epsilon, 1e-5);
  EXPECT_EQ(read_tiny("llama", R"("rms_norm_eps": 1e-3)").norm_epsilon, 1e-3);
  EXPECT_EQ(read_tiny("gpt_neox", R"("layer_norm_eps": 1e-3)").norm_epsilon, 1e-3);
}

TEST(Config, KindsOfGeluDiffer) {
  const auto activation = [](const char* word) {
    return read_tiny("gpt_neox", fmt::format(R"("hidden_act": "{}")", word)).activation;
  };
  EXPECT_EQ(activation("gelu"), ActivationFunction::kGelu);
  for (const char* word : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"}) {
    EXPECT_EQ(activation(word), ActivationFunction::kGeluTanh) << word;
  }
}

TEST(Config, TiedEmbeddingsMayStandOutsideOfTheTextConfig) {
  const std::string outside =
      fmt::format(R"({{"tie_word_embeddings": true, "text_config": {}}})", tiny("llama"));
  EXPECT_TRUE(read(outside).tied);
  const std::string vision = R"({"hidden_size": 64, "model_type": "llama4_vision_model"})";
  EXPECT_FALSE(read_encoded("llama4", vision).tied);  // its text is a causal model of its own
  EXPECT_THAT(input_error(R"({"model_type": "llava", "text_config": {"hidden_size": 4}})"),
              HasSubstr("text_config: the key 'model_type' is missing"));
}

}  // namespace
}  // namespace stepwright::model
