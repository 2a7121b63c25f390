#include "stepwright/model/parameters.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "stepwright/model/catalog.h"

namespace stepwright::model {
namespace {

ModelArchitecture model_named(std::string_view name) { return built_in_model(name).value(); }

/// Returns the elements of each parameter by name; fails if a name occurs twice.
std::map<std::string, std::int64_t> elements_of(const std::vector<ModelParameter>& list) {
  std::map<std::string, std::int64_t> result;
  for (const ModelParameter& parameter : list) {
    EXPECT_TRUE(result.emplace(parameter.name, parameter.elements()).second) << parameter.name;
  }
  return result;
}

struct Published {
  std::string_view name;
  std::int64_t parameters;
};

class PublishedCounts : public testing::TestWithParam<Published> {};

TEST_P(PublishedCounts, AreExact) {
  EXPECT_EQ(count_parameters(model_named(GetParam().name)), GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    Models, PublishedCounts,
    testing::Values(
        Published{"gemma-3-1b", 999'885'952}, Published{"gemma-3-27b", 27'009'346'304},
        Published{"gpt-oss-20b", 20'914'757'184}, Published{"gpt-oss-120b", 116'829'156'672},
        Published{"olmo-2-7b", 7'298'617'344}, Published{"olmo-2-13b", 13'716'198'400},
        Published{"olmo-2-32b", 32'234'279'936}, Published{"nemotron-h-8b", 8'100'852'736},
        Published{"nemotron-3-nano-30b-a3b", 31'577'937'344},
        Published{"qwen3-next-80b-a3b", 79'674'391'296}, Published{"glm-4.5-air", 106'852'245'504},
        Published{"llama-2-7b", 6'738'415'616}, Published{"llama-2-13b", 13'015'864'320},
        Published{"llama-2-70b", 68'976'648'192}, Published{"llama-3-8b", 8'030'261'248},
        Published{"llama-3-70b", 70'553'706'496}, Published{"llama-3.1-8b", 8'030'261'248},
        Published{"llama-3.1-70b", 70'553'706'496}, Published{"llama-3.1-405b", 405'853'388'800},
        Published{"llama-3.2-1b", 1'235'814'400}, Published{"llama-3.2-3b", 3'212'749'824},
        Published{"llama-30b", 32'528'943'616}, Published{"llama-65b", 65'285'660'672},
        Published{"qwen2-7b", 7'615'616'512}, Published{"qwen2.5-7b", 7'615'616'512},
        Published{"qwen2.5-32b", 32'763'876'352}, Published{"qwen2.5-72b", 72'706'203'648},
        Published{"qwen2-0.5b", 494'032'768}, Published{"qwen2-1.5b", 1'543'714'304},
        Published{"qwen2-72b", 72'706'203'648}, Published{"qwen2.5-0.5b", 494'032'768},
        Published{"qwen2.5-1.5b", 1'543'714'304}, Published{"qwen2.5-3b", 3'085'938'688},
        Published{"qwen2.5-14b", 14'770'033'664}, Published{"qwen3-1.7b", 1'720'574'976},
        Published{"qwen3-4b", 4'022'468'096}, Published{"qwen3-14b", 14'768'307'200},
        Published{"deepseek-v2-lite", 15'706'484'224}, Published{"deepseek-v2", 235'741'434'880},
        Published{"olmoe-1b-7b", 6'919'161'856}, Published{"gemma-2-2b", 2'614'341'888},
        Published{"gemma-2-9b", 9'241'705'984}, Published{"gemma-2-27b", 27'227'128'320},
        Published{"nemotron-nano-9b-v2", 8'888'227'328},
        Published{"nemotron-nano-12b-v2", 12'310'001'152}, Published{"qwen3-0.6b", 596'049'920},
        Published{"qwen3-8b", 8'190'735'360}, Published{"qwen3-32b", 32'762'123'264},
        Published{"qwen3-30b-a3b", 30'532'122'624}, Published{"qwen3-235b-a22b", 235'093'634'560},
        Published{"mistral-7b", 7'241'732'096}, Published{"mistral-7b-v0.3", 7'248'023'552},
        Published{"mixtral-8x7b", 46'702'792'704}, Published{"mixtral-8x22b", 140'630'071'296},
        Published{"deepseek-v3", 671'026'404'352}, Published{"gpt2", 124'439'808},
        Published{"gpt2-xl", 1'557'611'200}, Published{"gpt-neox-20b", 20'554'567'680},
        Published{"pythia-1.4b", 1'414'647'808}, Published{"bloom-176b", 176'247'271'424},
        Published{"mpt-7b", 6'649'286'656}, Published{"mpt-30b", 29'957'200'896}),
    [](const auto& row) {
      std::string name(row.param.name);
      for (char& letter : name) letter = std::isalnum(letter) != 0 ? letter : '_';
      return name;
    });

// Megatron's formula (arXiv 2104.04473, equation 2), 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l
// h)), and the final norm, which it leaves out.
TEST(Parameters, MegatronModelsFollowItsFormula) {
  const auto formula = [](std::int64_t l, std::int64_t h, std::int64_t v, std::int64_t s) {
    return 12 * l * h * h + 13 * l * h + (v + s) * h + 2 * h;
  };
  const auto count = [](std::string_view name) { return count_parameters(model_named(name)); };
  EXPECT_EQ(count("gpt-1t"), formula(128, 25600, 51200, 2048));
  EXPECT_EQ(count("gpt-145b"), formula(80, 12288, 51200, 2048));
  EXPECT_EQ(count("gpt-22b"), formula(48, 6144, 51200, 2048));
  EXPECT_EQ(count("gpt3-175b"), formula(96, 12288, 50257, 2048));
}

// Nemotron-4 340B: 9.4 B of embedding and 331.6 B of other parameters (arXiv 2406.11704, table 1);
// 15B: 3.2 B and 12.5 B (2402.16819, table 1).
TEST(Parameters, NemotronSplitsAsItsReportsSay) {
  const auto check_split = [](std::string_view name, double tables_1e9, double rest_1e9) {
    const ModelArchitecture model = model_named(name);
    const auto tables = static_cast<double>(2 * model.vocabulary * model.hidden);
    EXPECT_NEAR(tables / 1e9, tables_1e9, 0.06);
    EXPECT_NEAR((static_cast<double>(count_parameters(model)) - tables) / 1e9, rest_1e9, 0.06);
  };
  check_split("nemotron-4-340b", 9.4, 331.6);
  check_split("nemotron-4-15b", 3.15, 12.5);
}

TEST(Parameters, ActiveCountTakesTopKExperts) {
  // Mixtral 8x7B: two of eight experts of 3 x 4096 x 14336 in each of 32 layers.
  EXPECT_EQ(count_active_parameters(model_named("mixtral-8x7b")),
            46'702'792'704 - 32LL * 6 * 3 * 4096 * 14336);
  EXPECT_EQ(count_active_parameters(model_named("qwen3-30b-a3b")),
            30'532'122'624 - 48LL * 120 * 3 * 2048 * 768);
  EXPECT_EQ(count_active_parameters(model_named("deepseek-v3")),
            671'026'404'352 - 58LL * 248 * 3 * 7168 * 2048);
  EXPECT_EQ(count_active_parameters(model_named("llama-3-8b")), 8'030'261'248);
}

TEST(Parameters, MultiTokenLayersCountOnlyWhenAsked) {
  ModelArchitecture model = model_named("deepseek-v3");
  EXPECT_EQ(model.multi_token_layers, 1);
  EXPECT_FALSE(model.count_multi_token);
  model.count_multi_token = true;
  // A layer of experts, the projection, and three norms: 11.5 B, as the published README says.
  const std::int64_t attention =
      1536 * 7168 + 1536 + 24576 * 1536 + 576 * 7168 + 512 + 32768 * 512 + 7168 * 16384;
  const std::int64_t mixture = 257LL * 3 * 7168 * 2048 + 256LL * 7168;
  const std::int64_t module = attention + mixture + 2LL * 7168 + 7168LL * 14336 + 3LL * 7168;
  EXPECT_EQ(count_parameters(model) - 671'026'404'352, module);
  EXPECT_NEAR(static_cast<double>(module) / 1e9, 11.5, 0.15);
}

TEST(Parameters, LlamaLayerListsItsTensorsInOrderOfUse) {
  const ModelArchitecture model = model_named("llama-3-8b");
  std::vector<std::string> names;
  for (const ModelParameter& parameter : layer_parameters(model, model.layer_class(0))) {
    names.emplace_back(parameter.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"norm.attention", "attention.qkv", "attention.output",
                                             "norm.mlp", "mlp.fc1", "mlp.fc2"}));
  const auto elements = elements_of(layer_parameters(model, model.layer_class(0)));
  EXPECT_EQ(elements.at("attention.qkv"), (32 + 2 * 8) * 128 * 4096);
  EXPECT_EQ(elements.at("mlp.fc1"), 2 * 14336 * 4096);
}

TEST(Parameters, GptLayerHasAllBiases) {
  const ModelArchitecture model = model_named("gpt2");
  const auto elements = elements_of(layer_parameters(model, model.layer_class(0)));
  EXPECT_EQ(elements, (std::map<std::string, std::int64_t>{{"norm.attention", 768},
                                                           {"norm.attention_bias", 768},
                                                           {"attention.qkv", 3 * 768 * 768},
                                                           {"attention.qkv_bias", 3 * 768},
                                                           {"attention.output", 768 * 768},
                                                           {"attention.output_bias", 768},
                                                           {"norm.mlp", 768},
                                                           {"norm.mlp_bias", 768},
                                                           {"mlp.fc1", 4 * 768 * 768},
                                                           {"mlp.fc1_bias", 4 * 768},
                                                           {"mlp.fc2", 4 * 768 * 768},
                                                           {"mlp.fc2_bias", 768}}));
}

TEST(Parameters, ExpertsKnowTheirCopiesAndTheCorrectionBiasIsNotTrained) {
  const ModelArchitecture model = model_named("deepseek-v3");
  EXPECT_FALSE(model.layer_class(2).has_experts());
  EXPECT_TRUE(model.layer_class(3).has_experts());
  for (const ModelParameter& parameter : layer_parameters(model, model.layer_class(3))) {
    EXPECT_EQ(parameter.expert, parameter.name.starts_with("experts.")) << parameter.name;
    EXPECT_EQ(parameter.copies, parameter.expert ? 256 : 1) << parameter.name;
    EXPECT_EQ(parameter.trained, parameter.name != "router.correction_bias") << parameter.name;
  }
}

/// Eight experts of Mixtral with a latent width: two projections of 4096 x 1024 around them, and in
/// each expert three matrices of 14336 x 1024 instead of 14336 x 4096.
TEST(Parameters, ExpertsOfALatentWidthStandBetweenTwoProjections) {
  ModelArchitecture model = model_named("mixtral-8x7b");
  const std::int64_t wide = count_parameters(model);
  model.experts->latent = 1024;
  const std::int64_t of_layer = 2 * 4096 * 1024 - 8 * 3 * 14336 * (4096 - 1024);
  EXPECT_EQ(count_parameters(model), wide + 32 * of_layer);
}

TEST(Parameters, SplitsAreMegatrons) {
  const ModelArchitecture model = model_named("gpt2");
  for (const ModelParameter& parameter : layer_parameters(model, model.layer_class(0))) {
    const bool column = parameter.name == "attention.qkv" || parameter.name == "mlp.fc1" ||
                        parameter.name == "attention.qkv_bias" || parameter.name == "mlp.fc1_bias";
    const bool row = parameter.name == "attention.output" || parameter.name == "mlp.fc2";
    const TensorParallelSplit expected = column ? TensorParallelSplit::kColumn
                                         : row  ? TensorParallelSplit::kRow
                                                : TensorParallelSplit::kReplicated;
    EXPECT_EQ(parameter.split, expected) << parameter.name;
  }
}

TEST(Parameters, TiedModelsHaveNoHeadWeight) {
  EXPECT_EQ(elements_of(head_parameters(model_named("gpt2"))).count("head.weight"), 0U);
  EXPECT_EQ(elements_of(head_parameters(model_named("llama-3-8b"))).at("head.weight"),
            128256 * 4096);
}

TEST(Parameters, EmbeddingsHavePositionsAndNormsWhereTheModelDoes) {
  EXPECT_EQ(elements_of(embedding_parameters(model_named("gpt2"))).at("embedding.position"),
            1024 * 768);
  const auto bloom = elements_of(embedding_parameters(model_named("bloom-176b")));
  EXPECT_EQ(bloom.at("embedding.norm"), 14336);
  EXPECT_EQ(bloom.at("embedding.norm_bias"), 14336);
  EXPECT_EQ(bloom.count("embedding.position"), 0U);
}

TEST(Parameters, SharedInputNormLeavesOutTheSecond) {
  ModelArchitecture model = model_named("gpt-neox-20b");
  model.shared_input_norm = true;
  EXPECT_EQ(elements_of(layer_parameters(model, {})).count("norm.mlp"), 0U);
  EXPECT_EQ(count_parameters(model), 20'554'567'680 - 44LL * 2 * 6144);
}

TEST(Parameters, SharedExpertGateIsOneRow) {
  const ModelArchitecture model = model_named("qwen2-57b-a14b");
  const auto elements = elements_of(layer_parameters(model, model.layer_class(0)));
  EXPECT_EQ(elements.at("shared.gate"), 3584);
  EXPECT_EQ(elements.at("shared.fc1"), 2 * 20480 * 3584);
}

TEST(Parameters, PadsTheVocabularyWhereRanksCannotShareItEqually) {
  EXPECT_EQ(padded_vocabulary(50257, 1), 50257);
  EXPECT_EQ(padded_vocabulary(50257, 2), 50258);
  EXPECT_EQ(padded_vocabulary(50257, 8), 50264);
  EXPECT_EQ(padded_vocabulary(128256, 8), 128256);
}

}  // namespace
}  // namespace stepwright::model
