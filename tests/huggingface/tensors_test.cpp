#include "stepwright/huggingface/tensors.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/config_writer.h"
#include "tests/checkpoint/refusal.h"
#include "tests/huggingface/models.h"

namespace stepwright::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

huggingface::HuggingFaceTensor tensor_of(const char* model, std::string_view name) {
  const model::ModelArchitecture architecture = model_of(model);
  for (const huggingface::HuggingFaceTensor& tensor : huggingface::huggingface_tensors(
           architecture, huggingface::huggingface_family_of_model(architecture))) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

/// Expects every element of every parameter to be in exactly one tensor, and all names to differ.
void expect_complete(const model::ModelArchitecture& model,
                     const huggingface::HuggingFaceWeightFamily& family) {
  std::map<std::string, std::set<std::int64_t>> rows;
  std::map<std::string, std::int64_t> columns;
  std::set<std::string> names;
  for (const huggingface::HuggingFaceTensor& tensor :
       huggingface::huggingface_tensors(model, family)) {
    EXPECT_TRUE(names.insert(tensor.name).second) << tensor.name;
    columns[tensor.own] = tensor.columns;
    for (const huggingface::ParameterRowRun& run : tensor.rows) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        EXPECT_TRUE(rows[tensor.own].insert(run.begin + i).second) << tensor.name;
      }
    }
  }
  for (const WholeParameter& parameter : whole_parameters_of(model)) {
    const std::int64_t count = parameter.elements / columns.at(parameter.name);
    EXPECT_EQ(std::ssize(rows.at(parameter.name)), count) << parameter.name;
    EXPECT_EQ(*rows.at(parameter.name).begin(), 0) << parameter.name;
    EXPECT_EQ(*rows.at(parameter.name).rbegin(), count - 1) << parameter.name;
    rows.erase(parameter.name);
  }
  EXPECT_TRUE(rows.empty());
}

TEST(ForeignTensors, HoldEachRowOnce) {
  for (const char* text : {kLlamaConfig, kMixtral, kGpt2, kGptNeox}) {
    const model::ModelArchitecture model = model_of(text);
    expect_complete(model, huggingface::huggingface_family_of_model(model));
  }
}

TEST(ForeignTensors, BuiltInModelsHaveNames) {
  for (const char* name : {"llama-3.1-8b", "qwen3-8b", "mistral-7b", "mixtral-8x7b", "gpt2",
                           "pythia-1.4b", "qwen2.5-7b"}) {
    const model::ModelArchitecture model = model::built_in_model(name).value();
    EXPECT_FALSE(
        huggingface::huggingface_tensors(model, huggingface::huggingface_family_of_model(model))
            .empty())
        << name;
  }
}

TEST(ForeignTensors, QueriesKeysAndValuesAreApart) {
  const huggingface::HuggingFaceTensor keys =
      tensor_of(kLlamaConfig, "model.layers.1.self_attn.k_proj.weight");
  EXPECT_EQ(keys.own, "layers.1.attention.qkv");
  EXPECT_THAT(keys.rows, ElementsAre(huggingface::ParameterRowRun{16, 8}));
  EXPECT_THAT(keys.shape(), ElementsAre(8, 8));
}

TEST(ForeignTensors, ExpertsAreApart) {
  const huggingface::HuggingFaceTensor up =
      tensor_of(kMixtral, "model.layers.0.block_sparse_moe.experts.2.w3.weight");
  EXPECT_EQ(up.own, "layers.0.experts.fc1");
  EXPECT_THAT(up.rows, ElementsAre(huggingface::ParameterRowRun{30, 6}));
  EXPECT_THAT(up.shape(), ElementsAre(6, 8));
}

TEST(ForeignTensors, ConvolutionsAreTransposed) {
  const huggingface::HuggingFaceTensor fc1 = tensor_of(kGpt2, "transformer.h.0.mlp.c_fc.weight");
  EXPECT_TRUE(fc1.transposed);
  EXPECT_THAT(fc1.shape(), ElementsAre(8, 12));
}

TEST(ForeignTensors, GptNeoxGoesHeadByHead) {
  const huggingface::HuggingFaceTensor qkv =
      tensor_of(kGptNeox, "gpt_neox.layers.0.attention.query_key_value.bias");
  EXPECT_THAT(
      qkv.rows,
      ElementsAre(huggingface::ParameterRowRun{0, 4, 0}, huggingface::ParameterRowRun{8, 4, 4},
                  huggingface::ParameterRowRun{16, 4, 8}, huggingface::ParameterRowRun{4, 4, 12},
                  huggingface::ParameterRowRun{12, 4, 16},
                  huggingface::ParameterRowRun{20, 4, 20}));
  EXPECT_THAT(qkv.shape(), ElementsAre(24));
}

/// Returns the tensors of a model in a family's files, by name.
std::map<std::string, huggingface::HuggingFaceTensor> tensors_in(const char* text,
                                                                 std::string_view family) {
  const model::ModelArchitecture model = model_of(text);
  const huggingface::HuggingFaceWeightFamily* found =
      huggingface::find_huggingface_weight_family(family);
  EXPECT_NE(found, nullptr) << family;
  expect_complete(model, *found);
  std::map<std::string, huggingface::HuggingFaceTensor> tensors;
  for (huggingface::HuggingFaceTensor& tensor : huggingface::huggingface_tensors(model, *found))
    tensors[tensor.name] = tensor;
  return tensors;
}

TEST(ForeignTensors, PairsOfARotaryPositionStandSideBySide) {
  const auto tensors = tensors_in(
      "{layers: 1, hidden: 8, heads: 2, kv_heads: 1, head_dim: 6, ffn: 12, vocab: 20, "
      "rotary_fraction: 0.7}",
      "cohere2");
  const huggingface::HuggingFaceTensor& keys = tensors.at("model.layers.0.self_attn.k_proj.weight");
  EXPECT_THAT(keys.rows, ElementsAre(huggingface::ParameterRowRun{12, 2, 0, 2},
                                     huggingface::ParameterRowRun{14, 2, 1, 2},
                                     huggingface::ParameterRowRun{16, 2, 4}));
  const huggingface::HuggingFaceTensor& values =
      tensors.at("model.layers.0.self_attn.v_proj.weight");
  EXPECT_THAT(values.rows, ElementsAre(huggingface::ParameterRowRun{18, 6}));
}

TEST(ForeignTensors, GatesStandWithTheQueriesOfTheirHead) {
  const auto tensors = tensors_in(
      "{layers: 1, hidden: 8, heads: 2, kv_heads: 1, head_dim: 4, ffn: 12, vocab: 20, "
      "attention_gate: true}",
      "qwen3_5_text");
  EXPECT_THAT(
      tensors.at("model.layers.0.self_attn.q_proj.weight").rows,
      ElementsAre(huggingface::ParameterRowRun{0, 4, 0}, huggingface::ParameterRowRun{16, 4, 4},
                  huggingface::ParameterRowRun{4, 4, 8}, huggingface::ParameterRowRun{20, 4, 12}));
  EXPECT_THAT(tensors.at("model.layers.0.self_attn.v_proj.weight").rows,
              ElementsAre(huggingface::ParameterRowRun{12, 4}));
}

constexpr const char* kStackedExperts =
    "{layers: 1, hidden: 8, heads: 2, ffn: 6, vocab: 20, experts: {count: 3, top_k: 2, ffn: 6}}";

TEST(ForeignTensors, ExpertsAreStacked) {
  const auto whole = tensors_in(kStackedExperts, "granitemoe");
  const huggingface::HuggingFaceTensor& fc1 =
      whole.at("model.layers.0.block_sparse_moe.input_linear.weight");
  EXPECT_THAT(fc1.shape(), ElementsAre(3, 12, 8));
  EXPECT_EQ(fc1.flat_element_index(13, 2), 106);
  const auto transposed = tensors_in(kStackedExperts, "gpt_oss");
  const huggingface::HuggingFaceTensor& turned =
      transposed.at("model.layers.0.mlp.experts.gate_up_proj");
  EXPECT_THAT(turned.shape(), ElementsAre(3, 8, 12));
  EXPECT_THAT(turned.rows, ElementsAre(huggingface::ParameterRowRun{0, 6, 0, 2},
                                       huggingface::ParameterRowRun{6, 6, 1, 2},
                                       huggingface::ParameterRowRun{12, 6, 12, 2},
                                       huggingface::ParameterRowRun{18, 6, 13, 2},
                                       huggingface::ParameterRowRun{24, 6, 24, 2},
                                       huggingface::ParameterRowRun{30, 6, 25, 2}));
  EXPECT_EQ(turned.flat_element_index(13, 2), 96 + 2 * 12 + 1);
  const auto joined = tensors_in(kStackedExperts, "dbrx");
  EXPECT_THAT(
      joined.at("transformer.blocks.0.ffn.experts.mlp.v1").rows,
      ElementsAre(huggingface::ParameterRowRun{6, 6, 0}, huggingface::ParameterRowRun{18, 6, 6},
                  huggingface::ParameterRowRun{30, 6, 12}));
  EXPECT_THAT(joined.at("transformer.blocks.0.ffn.experts.mlp.w2").shape(), ElementsAre(18, 8));
}

TEST(ForeignTensors, PartsWithoutANameAreRefused) {
  EXPECT_THAT(refusal_of([] {
                huggingface::huggingface_tensors(
                    model_of("{layers: 1, hidden: 8, heads: 2, ffn: 6, vocab: 20, "
                             "attention_gate: true}"),
                    *huggingface::find_huggingface_weight_family("llama"));
              }),
              HasSubstr("'attention.qkv' has no place in files of the family llama"));
}

TEST(FamilyOf, IsTheOneThatSaysEverything) {
  const auto type = [](const char* name) {
    return std::string(
        huggingface::huggingface_family_of_model(model::built_in_model(name).value()).model_type);
  };
  EXPECT_EQ(type("llama-3.1-8b"), "llama");
  EXPECT_EQ(type("mistral-7b"), "mistral");
  EXPECT_EQ(type("qwen2.5-7b"), "qwen2");
  EXPECT_EQ(type("qwen3-0.6b"), "qwen3");
  EXPECT_EQ(type("mixtral-8x7b"), "mixtral");
  EXPECT_EQ(type("gpt2-xl"), "gpt2");
  EXPECT_EQ(type("gpt-neox-20b"), "gpt_neox");
}

TEST(FamilyOf, NamesWhatTheNearestCannotSay) {
  const std::string refusal = refusal_of([] {
    huggingface::huggingface_family_of_model(
        model_of("{layers: 2, hidden: 8, heads: 4, ffn: 12, vocab: 20, head_bias: true}"));
  });
  EXPECT_THAT(refusal, HasSubstr("the nearest is llama"));
  EXPECT_THAT(refusal, HasSubstr("head_bias: none, here true"));
}

}  // namespace
}  // namespace stepwright::testing
