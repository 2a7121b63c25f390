#include "stepwright/model/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/error.h"
#include "tests/folder.h"

namespace stepwright::model {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

TEST(Catalog, NamesAreSortedAndDistinct) {
  const auto names = built_in_model_names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Catalog, EveryModelIsLegalAndCarriesItsName) {
  for (const std::string_view name : built_in_model_names()) {
    const ModelArchitecture model = built_in_model(name).value();
    EXPECT_EQ(model.name, name);
    EXPECT_NO_THROW(check_model_sizes(model, model.name)) << name;
    EXPECT_EQ(model.dropout, 0) << name;
  }
}

TEST(Catalog, KnowsNoOtherName) {
  EXPECT_FALSE(built_in_model("llama"));
  EXPECT_FALSE(built_in_model(""));
}

TEST(Catalog, LayeredModelsAreWhatTheirConfigurationsSay) {
  for (const auto& [name, file] :
       {std::pair{"deepseek-v2-lite", "deepseek-v2-lite"}, std::pair{"gemma-2-9b", "gemma-2-9b"},
        std::pair{"gemma-3-1b", "gemma-3-1b-it"}, std::pair{"glm-4.5-air", "glm-4.5-air"},
        std::pair{"gpt-oss-20b", "gpt-oss-20b"}, std::pair{"nemotron-h-8b", "nemotron-h-8b"},
        std::pair{"olmo-2-7b", "olmo-2-7b"}, std::pair{"olmoe-1b-7b", "olmoe-1b-7b"},
        std::pair{"qwen3-next-80b-a3b", "qwen3-next-80b-a3b"}}) {
    ModelArchitecture read = read_huggingface_config(
        YamlJsonDocument::load(std::string("tests/huggingface/judge/released/") + file + ".json"));
    read.name = name;
    EXPECT_EQ(inline_model_mapping(built_in_model(name).value()), inline_model_mapping(read));
    EXPECT_EQ(built_in_model(name).value(), read) << name;
  }
}

TEST(Catalog, ModelsThatSeeImagesAreWhatTheirConfigurationsSay) {
  for (const auto& [name, file] :
       {std::pair{"qwen2.5-vl-7b", "qwen2.5-vl-7b"}, std::pair{"qwen3-vl-4b", "qwen3-vl-4b"},
        std::pair{"qwen3-vl-30b-a3b", "qwen3-vl-30b-a3b"}}) {
    ModelArchitecture read = read_huggingface_config(
        YamlJsonDocument::load(std::string("tests/model/seeing/") + file + ".json"));
    read.name = name;
    EXPECT_EQ(inline_model_mapping(built_in_model(name).value()), inline_model_mapping(read));
  }
  EXPECT_EQ(built_in_model_of_hub_id("Qwen/Qwen3-VL-8B-Instruct"), "qwen3-vl-8b");
  EXPECT_EQ(built_in_model_of_hub_id("Qwen/Qwen2.5-VL-72B-Instruct"), "qwen2.5-vl-72b");
}

TEST(Catalog, IdsNameTheBuiltInModelAndItsTunedSiblings) {
  EXPECT_EQ(built_in_model_of_hub_id("meta-llama/Llama-3.1-70B"), "llama-3.1-70b");
  EXPECT_EQ(built_in_model_of_hub_id("meta-llama/Meta-Llama-3-8B-Instruct"), "llama-3-8b");
  EXPECT_EQ(built_in_model_of_hub_id("meta-llama/Llama-2-13b-chat-hf"), "llama-2-13b");
}

TEST(Catalog, IdsOfOtherSizesNameNone) {
  EXPECT_FALSE(built_in_model_of_hub_id("openai-community/gpt2-medium"));
  EXPECT_FALSE(built_in_model_of_hub_id("meta-llama/Llama-3.1-70"));
  EXPECT_FALSE(built_in_model_of_hub_id("llama-3-8b"));
  EXPECT_FALSE(built_in_model_of_hub_id(""));
}

TEST(Catalog, DescriptionHoldsCountsAndFlops) {
  const auto json = model_list_entry_json(built_in_model("llama-3-8b").value(), 8192);
  EXPECT_EQ(json["name"], "llama-3-8b");
  EXPECT_EQ(json["parameters"], 8'030'261'248);
  EXPECT_EQ(json["active_parameters"], 8'030'261'248);
  EXPECT_EQ(json["attention"], "grouped");
  EXPECT_EQ(json["length"], 8192);
  EXPECT_EQ(json["flops_per_token"], 3 * json["forward_flops_per_token"].get<double>());
  EXPECT_FALSE(json.contains("experts"));
}

TEST(Catalog, DescriptionSaysWhatOfAModelIsSpecial) {
  const auto deepseek = model_list_entry_json(built_in_model("deepseek-v3").value(), 4096);
  EXPECT_EQ(deepseek["attention"], "latent");
  EXPECT_EQ(deepseek["experts"]["layers"], 58);
  EXPECT_EQ(deepseek["multi_token_layers"], 1);
  EXPECT_EQ(deepseek["multi_token_counted"], false);
  const auto mistral = model_list_entry_json(built_in_model("mistral-7b").value(), 4096);
  EXPECT_EQ(mistral["window"]["largest"], 4096);
  EXPECT_EQ(mistral["window"]["layers"], 32);
}

/// Tests that read files in a folder of their own.
class ReadModel : public testing::Test {
 protected:
  ReadModel() {
    fs::create_directories(folder_ / "checkpoint");
    write("model.yaml", "stepwright: model/1\nname: mine\nbase: llama-2-7b\nlayers: 2\n");
    write("checkpoint/config.json",
          R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
              "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 1000})");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  [[nodiscard]] ModelArchitecture read(const std::string& value) const {
    const YamlJsonDocument job = YamlJsonDocument::parse("model: " + value, "job.yaml");
    return read_job_model(job.root().get("model"), folder_.path());
  }

  [[nodiscard]] std::string error_of(const std::string& value) const {
    try {
      [[maybe_unused]] const ModelArchitecture model = read(value);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      return error.what();
    }
    ADD_FAILURE() << "accepted: " << value;
    return {};
  }

  Folder folder_;
};

TEST_F(ReadModel, TakesABuiltInName) {
  EXPECT_EQ(read("mixtral-8x7b"), built_in_model("mixtral-8x7b"));
}

TEST_F(ReadModel, TakesAFileOrFolder) {
  EXPECT_EQ(read("model.yaml").name, "mine");
  EXPECT_EQ(read("model.yaml").layers, 2);
  EXPECT_EQ(read("checkpoint/config.json").layers, 3);
  EXPECT_EQ(read("checkpoint").name, "checkpoint");
  EXPECT_EQ(read((folder_ / "checkpoint").string()).layers, 3);
}

TEST_F(ReadModel, TakesAMapping) { EXPECT_EQ(read("{base: gpt2, layers: 2}").layers, 2); }

TEST_F(ReadModel, UnknownNameNamesTheNearest) {
  EXPECT_THAT(error_of("llama3-8b"),
              AllOf(HasSubstr("job.yaml:1:8: model"), HasSubstr("did you mean 'llama-3-8b'?"),
                    HasSubstr("stepwright list models")));
}

TEST_F(ReadModel, MissingFilesAreNamed) {
  EXPECT_THAT(error_of("other.yaml"),
              AllOf(HasSubstr("job.yaml:1:8: model"), HasSubstr("other.yaml: no such file")));
  EXPECT_THAT(error_of("some/where"), HasSubstr("no such file"));
}

TEST_F(ReadModel, OtherKindsOfValuesAreRefused) {
  EXPECT_THAT(error_of("[gpt2]"), HasSubstr("name of a built-in model"));
  EXPECT_THAT(error_of("null"), HasSubstr("name of a built-in model"));
  EXPECT_THAT(error_of("\"\""), HasSubstr("is called ''"));
  EXPECT_THAT(error_of(std::string(5000, 'x')),
              HasSubstr("must be one line of at most 4096 characters"));
}

}  // namespace
}  // namespace stepwright::model
