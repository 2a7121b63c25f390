#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stepwright/model/catalog.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_refusals.h"
#include "tests/model/tiny_config.h"

namespace stepwright::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ConfigErrors, BadLayerTypesAreRefused) {
  const std::string rest = R"("num_key_value_heads": 2, "sliding_window": null, "layer_types": )";
  EXPECT_THAT(input_error(tiny("qwen2", rest + R"(["full_attention"])")),
              HasSubstr("one per layer (4)"));
  EXPECT_THAT(input_error(tiny("qwen2", rest + R"("full_attention")")), HasSubstr("list"));
  const std::string types = R"(["{}", "full_attention", "full_attention", "full_attention"])";
  EXPECT_THAT(
      input_error(tiny("qwen2", rest + fmt::format(fmt::runtime(types), "sliding_attention"))),
      HasSubstr("no sliding_window"));
  EXPECT_THAT(
      unsupported(tiny("qwen2", rest + fmt::format(fmt::runtime(types), "linear_attention"))),
      AllOf(HasSubstr("linear_attention"), HasSubstr("full_attention")));
}

TEST(ConfigErrors, UnknownModelTypeIsUnsupportedAndListsWhatIs) {
  EXPECT_THAT(unsupported(R"({"model_type": "diffllama"})"),
              AllOf(HasSubstr("models/tiny/config.json:1:"), HasSubstr("diffllama"),
                    HasSubstr("mixtral, mpt, nanochat")));
  EXPECT_THAT(input_error("{}"), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(input_error("[1]"), HasSubstr("mapping"));
}

TEST(ConfigErrors, RefusedTypesSayWhyAndWhatMayStandIn) {
  EXPECT_THAT(unsupported(R"({"model_type": "rwkv"})"),
              AllOf(HasSubstr("time mixing"), HasSubstr("mamba2 of the same sizes")));
  for (const RefusedModelType& refused : refused_model_types()) {
    const auto stands_in = [&](const ModelConfigFamily& family) {
      return family.model_type == refused.instead;
    };
    EXPECT_TRUE(std::ranges::any_of(model_config_families(), stands_in)) << refused.model_type;
  }
}

TEST(ConfigErrors, CodeOfAFileIsNamedAndNeverRun) {
  EXPECT_THAT(
      unsupported(R"({"model_type": "mine", "auto_map": {"AutoModel": "modeling_mine.Mine"}})"),
      AllOf(HasSubstr("modeling_mine.Mine"), HasSubstr("never run")));
}

std::vector<std::string> notes_of(const std::string& text) {
  std::vector<std::string> notes;
  read_huggingface_config(YamlJsonDocument::parse(text, "models/tiny/config.json"), &notes);
  return notes;
}

TEST(ConfigErrors, KeysThatNoReaderUsesAreNamed) {
  EXPECT_THAT(notes_of(tiny("llama", R"("use_cache": true, "attention_dropout": 0.1)")),
              testing::IsEmpty());
  EXPECT_THAT(notes_of(tiny("llama", R"("mystery_gate": 7, "more\u202e": {"a": 1}, "none": [])")),
              testing::ElementsAre(AllOf(HasSubstr("models/tiny/config.json"),
                                         HasSubstr("mystery_gate, more"), Not(HasSubstr("none")),
                                         Not(HasSubstr("\xE2\x80\xAE")))));
  EXPECT_THAT(notes_of(tiny("llama", R"("auto_map": {"AutoModel": "modeling_mine.Mine"})")),
              testing::ElementsAre(AllOf(HasSubstr("modeling_mine.Mine"), HasSubstr("never run"),
                                         HasSubstr("'llama'"))));
}

TEST(ConfigErrors, KeysThatWouldShapeTheModelFail) {
  EXPECT_THAT(unsupported(tiny("llama", R"("num_local_experts": 8)")),
              AllOf(HasSubstr("num_local_experts"), HasSubstr("'llama'"), HasSubstr("experts")));
  EXPECT_THAT(unsupported(tiny("granite", R"("kv_lora_rank": 512)")),
              HasSubstr("latent attention"));
  EXPECT_THAT(unsupported(tiny("llama", R"("qk_norm": true)")), HasSubstr("norms of queries"));
  EXPECT_THAT(notes_of(tiny("llama", R"("num_local_experts": 1, "qk_norm": false)")),
              testing::ElementsAre(HasSubstr("num_local_experts")));
  EXPECT_THAT(input_error(tiny("llama", R"("num_key_value_head": 2)")),
              AllOf(HasSubstr("num_key_value_head"), HasSubstr("mean 'num_key_value_heads'")));
}

TEST(ConfigErrors, ListsOfLayersSayWhatTheyMayHold) {
  const auto error = [](const char* type, const char* rest) {
    return input_error(tiny(type, rest));
  };
  EXPECT_THAT(error("smollm3", R"("no_rope_layers": [1, 2])"), HasSubstr("one per layer (4)"));
  EXPECT_THAT(error("smollm3", R"("no_rope_layers": [1, 5, 1, 1])"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(error("nemotron_h", R"("layers_block_type": {})"), HasSubstr("list of one word"));
  EXPECT_THAT(error("nemotron_h", R"("hybrid_override_pattern": "M\u202e")"),
              AllOf(HasSubstr("M, *, - and E"), Not(HasSubstr("\xE2\x80\xAE"))));
  EXPECT_THAT(error("bamba", R"("attn_layer_indices": [9])"), HasSubstr("from 0 to 3"));
  EXPECT_THAT(error("lfm2", R"("layer_types": ["conv"])"), HasSubstr("one per layer (4)"));
  EXPECT_THAT(error("exaone_moe", R"("mlp_layer_types": ["dense"])"),
              HasSubstr("one per layer (4)"));
  EXPECT_THAT(error("mamba2", R"("num_heads": 3)"), HasSubstr("expand x hidden_size"));
  EXPECT_THAT(error("gptj", R"("n_positions": 9, "rotary_dim": 640)"),
              HasSubstr("rotary_fraction"));
  EXPECT_THAT(error("granite", R"("logits_scaling": 0)"), HasSubstr("logits_scaling"));
  EXPECT_THAT(unsupported(tiny("qwen3_next", R"("layer_types": ["x", "x", "x", "x"])")),
              HasSubstr("layer type 'x'"));
  EXPECT_THAT(unsupported(tiny("exaone4", R"("sliding_window_pattern": "LLLG")")),
              HasSubstr("letters"));
}

TEST(ConfigErrors, WhatNoModelCoversIsUnsupported) {
  unsupported(tiny("llama", R"("hidden_act": "mish")"));
  unsupported(tiny("deepseek_v3", R"("attention_bias": true)"));
  unsupported(R"({"model_type": "gpt2", "add_cross_attention": true})");
  unsupported(R"({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": true})");
}

TEST(ConfigErrors, MissingSizesAreNamed) {
  for (const std::string key : {"hidden_size", "intermediate_size", "num_hidden_layers",
                                "num_attention_heads", "vocab_size"}) {
    std::string text = tiny("llama");
    text.replace(text.find('"' + key), key.size() + 2, "\"other\"");
    EXPECT_THAT(input_error(text), HasSubstr("the key '" + key + "' is missing"));
  }
  EXPECT_THAT(input_error(R"({"model_type": "gpt2"})"), HasSubstr("'n_layer' is missing"));
}

class BadSizes : public testing::TestWithParam<const char*> {};

TEST_P(BadSizes, AreRefusedWithFieldAndValue) {
  for (const std::string key :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "vocab_size", "num_key_value_heads", "head_dim", "max_position_embeddings"}) {
    std::string text = tiny("llama", R"("num_key_value_heads": 2, "head_dim": 16,
                                        "max_position_embeddings": 8)");
    const auto colon = text.find(':', text.find('"' + key + '"'));
    text.replace(colon + 1, text.find_first_of(",}", colon) - colon - 1, GetParam());
    EXPECT_THAT(input_error(text), HasSubstr(key));
  }
}

INSTANTIATE_TEST_SUITE_P(Values, BadSizes,
                         testing::Values("0", "-1", "1.5", "\"64\"", "true", "[64]", "{}",
                                         "1099511627777", "9223372036854775807",
                                         "9223372036854775808", "1e300", "-9223372036854775808"));

TEST(ConfigErrors, NotANumberIsNotJson) {
  EXPECT_THAT(input_error(R"({"model_type": "llama", "hidden_size": NaN})"),
              HasSubstr("models/tiny/config.json:1:"));
}

TEST(ConfigErrors, IndivisibleHeadsAreRefused) {
  std::string text = tiny("llama");
  text.replace(text.find("\"hidden_size\": 64"), 17, "\"hidden_size\": 63");
  EXPECT_THAT(input_error(text), AllOf(HasSubstr("hidden_size (63)"), HasSubstr("heads (4)")));
  EXPECT_THAT(input_error(tiny("llama", R"("num_key_value_heads": 3)")),
              AllOf(HasSubstr("num_key_value_heads"), HasSubstr("3"),
                    HasSubstr("divisor of num_attention_heads (4)")));
}

TEST(ConfigErrors, LargeSizesNeverOverflow) {
  const std::string huge = "1099511627776";
  std::string text = tiny("llama");
  text.replace(text.find("\"vocab_size\": 1000"), 18, "\"vocab_size\": " + huge);
  text.replace(text.find("\"hidden_size\": 64"), 17, "\"hidden_size\": " + huge);
  EXPECT_THAT(input_error(text), HasSubstr("parameters"));
  EXPECT_THAT(input_error(tiny("llama", "\"head_dim\": " + huge)), HasSubstr("per head"));
  EXPECT_THAT(input_error(tiny("deepseek_v3", "\"n_shared_experts\": " + huge)),
              HasSubstr("n_shared_experts"));
  EXPECT_THAT(input_error(tiny("deepseek_v3", "\"moe_intermediate_size\": " + huge +
                                                  R"(, "n_routed_experts": )" + huge)),
              HasSubstr("parameters"));
}

TEST(ConfigErrors, ManyExpertsPerTokenAreRefused) {
  EXPECT_THAT(input_error(tiny("mixtral", R"("num_key_value_heads": 2,
                                             "num_experts_per_tok": 9)")),
              AllOf(HasSubstr("num_experts_per_tok"), HasSubstr("1 to 8")));
}

}  // namespace
}  // namespace stepwright::model
