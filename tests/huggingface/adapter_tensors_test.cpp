#include "stepwright/huggingface/adapter_tensors.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/config_writer.h"
#include "stepwright/model/catalog.h"
#include "tests/huggingface/models.h"

namespace stepwright::testing {
namespace {

using ::testing::ElementsAre;

/// Returns a model with adapters of rank 2 on these targets.
model::ModelArchitecture adapted(const char* text,
                                 std::initializer_list<model::LoraTargetProduct> targets,
                                 bool joined = false) {
  model::ModelArchitecture model = model_of(text);
  model.adapters = model::LoraAdapters{.rank = 2, .alpha = 6, .joined = joined};
  for (const model::LoraTargetProduct target : targets)
    model.adapters->targets.set(model::place_of(target));
  return model;
}

std::vector<huggingface::PeftAdapterTensors> tensors_of(const model::ModelArchitecture& model) {
  return huggingface::peft_adapter_tensors(model, huggingface::huggingface_family_of_model(model));
}

TEST(PeftAdapterTensors, StandBesideThePartsOfFusedWeights) {
  // Queries of 16 rows, keys and values of 8: A of queries and values, 2 rows each.
  const auto tensors = tensors_of(
      adapted(kLlamaConfig, {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kValue}));
  ASSERT_EQ(tensors.size(), 4);
  const huggingface::PeftAdapterTensors& query = tensors[0];
  EXPECT_EQ(query.weight, "model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(query.down.name, "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
  EXPECT_EQ(query.down.own, "layers.0.attention.qkv_lora_a");
  EXPECT_THAT(query.down.rows, ElementsAre(huggingface::ParameterRowRun{0, 2}));
  EXPECT_THAT(query.up.rows, ElementsAre(huggingface::ParameterRowRun{0, 16}));
  EXPECT_THAT(query.up.shape(), ElementsAre(16, 2));
  const huggingface::PeftAdapterTensors& value = tensors[1];
  EXPECT_EQ(value.up.name, "base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight");
  EXPECT_THAT(value.down.rows, ElementsAre(huggingface::ParameterRowRun{2, 2}));
  EXPECT_THAT(value.up.rows, ElementsAre(huggingface::ParameterRowRun{16, 8}));
}

TEST(PeftAdapterTensors, HoldEveryRowOfOurs) {
  const model::ModelArchitecture model =
      adapted(kLlamaConfig, {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kKey,
                             model::LoraTargetProduct::kValue,
                             model::LoraTargetProduct::kProjection, model::LoraTargetProduct::kGate,
                             model::LoraTargetProduct::kUp, model::LoraTargetProduct::kFc2});
  std::int64_t elements = 0;
  for (const huggingface::PeftAdapterTensors& one : tensors_of(model)) {
    elements += one.down.row_count() * one.down.columns + one.up.row_count() * one.up.columns;
  }
  EXPECT_EQ(elements, model::count_trained_parameters(model));
}

TEST(PeftAdapterTensors, OfJoinedPartsShareTheirA) {
  const auto tensors = tensors_of(adapted(
      kLlamaConfig, {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kKey}, true));
  EXPECT_THAT(tensors[0].down.rows, ElementsAre(huggingface::ParameterRowRun{0, 2}));
  EXPECT_THAT(tensors[1].down.rows, ElementsAre(huggingface::ParameterRowRun{0, 2}));
  EXPECT_THAT(tensors[1].up.rows, ElementsAre(huggingface::ParameterRowRun{16, 8}));
}

TEST(PeftAdapterTensors, AreRefusedWhereFilesFuseWhatTheyStandBeside) {
  for (const char* fused : {kGpt2, kGptNeox}) {
    const model::ModelArchitecture apart =
        adapted(fused, {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kKey,
                        model::LoraTargetProduct::kValue});
    EXPECT_THAT([&] { tensors_of(apart); }, ::testing::ThrowsMessage<Error>(::testing::AllOf(
                                                ::testing::HasSubstr("adapters.joined: true"),
                                                ::testing::HasSubstr("--merge BASE"))));
  }
}

TEST(PeftAdapterTensors, OfJoinedPartsStandBesideTheTensorThatFusesThem) {
  const auto tensors =
      tensors_of(adapted(kGpt2,
                         {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kKey,
                          model::LoraTargetProduct::kValue},
                         true));
  const huggingface::PeftAdapterTensors& first = tensors.front();
  EXPECT_EQ(first.weight, "transformer.h.0.attn.c_attn.weight");
  EXPECT_TRUE(first.transposed);
  EXPECT_THAT(first.down.rows, ElementsAre(huggingface::ParameterRowRun{0, 2}));
  EXPECT_EQ(first.up.row_count(), 3 * first.down.columns);
  EXPECT_EQ(first.up.name, "base_model.model.transformer.h.0.attn.c_attn.lora_B.weight");
}

TEST(PeftAdapterTensors, OfExpertsStandBesideEach) {
  // Two rows of A for the gates of each expert and two for its ups.
  const auto tensors = tensors_of(
      adapted(kMixtral, {model::LoraTargetProduct::kGate, model::LoraTargetProduct::kUp}));
  EXPECT_EQ(tensors[0].weight, "model.layers.0.block_sparse_moe.experts.0.w1.weight");
  EXPECT_EQ(tensors[3].weight, "model.layers.0.block_sparse_moe.experts.1.w3.weight");
  EXPECT_THAT(tensors[3].down.rows, ElementsAre(huggingface::ParameterRowRun{6, 2}));
  const std::int64_t height = tensors[3].up.row_count();
  EXPECT_THAT(tensors[3].up.rows, ElementsAre(huggingface::ParameterRowRun{3 * height, height}));
}

TEST(PeftAdapterTensors, OfStackedExpertsAreRefusedWithWhatDoesHoldThem) {
  model::ModelArchitecture model = *model::built_in_model("gpt-oss-20b");
  model.adapters = model::LoraAdapters{.rank = 2, .alpha = 6};
  model.adapters->targets.set(model::place_of(model::LoraTargetProduct::kFc2));
  const huggingface::HuggingFaceWeightFamily& family =
      *huggingface::find_huggingface_weight_family("gpt_oss");
  EXPECT_THAT(
      [&] { huggingface::peft_adapter_tensors(model, family); },
      ::testing::ThrowsMessage<Error>(::testing::AllOf(
          ::testing::HasSubstr("stand beside each expert"), ::testing::HasSubstr("--merge BASE"))));
  EXPECT_THAT(huggingface::adapted_modules(model, family).parameters,
              ElementsAre("mlp.experts.down_proj"));
}

TEST(PeftAdapterTensors, ModulesOfGptOssAreThoseOfItsFamily) {
  model::ModelArchitecture model = *model::built_in_model("gpt-oss-20b");
  EXPECT_EQ(huggingface::huggingface_family_of_model(model).model_type, "gpt_oss");
  model.adapters =
      model::LoraAdapters{.rank = 2, .alpha = 6, .targets = model::possible_adapter_targets(model)};
  const huggingface::PeftTargetModules found =
      huggingface::adapted_modules(model, huggingface::huggingface_family_of_model(model));
  EXPECT_THAT(found.modules, ElementsAre("q_proj", "k_proj", "v_proj", "o_proj"));
  EXPECT_THAT(found.parameters, ElementsAre("mlp.experts.gate_up_proj", "mlp.experts.down_proj"));
}

TEST(PeftAdapterTensors, ModulesAreNamedSoThatNoOthersAre) {
  const auto modules = [](const model::ModelArchitecture& model) {
    return huggingface::adapted_modules(model, huggingface::huggingface_family_of_model(model))
        .modules;
  };
  EXPECT_THAT(modules(adapted(kGpt2, {model::LoraTargetProduct::kProjection})),
              ElementsAre("attn.c_proj"));
  EXPECT_THAT(modules(adapted(
                  kGpt2, {model::LoraTargetProduct::kProjection, model::LoraTargetProduct::kFc2})),
              ElementsAre("c_proj"));
  EXPECT_THAT(
      modules(adapted(kMixtral, {model::LoraTargetProduct::kGate, model::LoraTargetProduct::kFc2})),
      ElementsAre("w1", "w2"));
}

TEST(PeftAdapterTensors, ConfigurationNamesModulesAndLayers) {
  model::ModelArchitecture model =
      adapted(kLlamaConfig, {model::LoraTargetProduct::kQuery, model::LoraTargetProduct::kFc2});
  const huggingface::HuggingFaceWeightFamily& family =
      huggingface::huggingface_family_of_model(model);
  const auto config =
      huggingface::peft_adapter_config_json(model, family, tensors_of(model), "/models/base");
  EXPECT_EQ(config.at("r"), 2);
  EXPECT_EQ(config.at("lora_alpha"), 6);
  EXPECT_EQ(config.at("target_modules"), (nlohmann::ordered_json{"down_proj", "q_proj"}));
  EXPECT_EQ(config.at("base_model_name_or_path"), "/models/base");
  EXPECT_FALSE(config.contains("layers_to_transform"));
  model.frozen = {.first = 0, .layers = 1};
  const auto upper = tensors_of(model);
  EXPECT_EQ(upper.size(), 2);
  EXPECT_EQ(huggingface::peft_adapter_config_json(model, family, upper).at("layers_to_transform"),
            nlohmann::ordered_json{1});
}

}  // namespace
}  // namespace stepwright::testing
