// Checkpoints that are written as Hugging Face directories and read back, and refusals.
#include "stepwright/huggingface/weights.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "stepwright/huggingface/config_writer.h"
#include "stepwright/huggingface/exporter.h"
#include "tests/checkpoint/refusal.h"
#include "tests/folder.h"
#include "tests/huggingface/models.h"

namespace stepwright::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

fs::path exported(const fs::path& folder, const char* model,
                  const huggingface::HuggingFaceExportOptions& options = {}) {
  commit_checkpoint(folder, model);
  huggingface::export_huggingface(folder / checkpoint::checkpoint_folder_name(1), folder / "out",
                                  options);
  return folder / "out";
}

void expect_round_trip(const char* model,
                       const huggingface::HuggingFaceExportOptions& options = {}) {
  const Folder folder;
  const auto values = commit_checkpoint(folder.path(), model);
  huggingface::export_huggingface(folder.path() / checkpoint::checkpoint_folder_name(1),
                                  folder.path() / "out", options);
  const model::ModelArchitecture architecture = model_of(model);
  const huggingface::HuggingFaceWeights weights(folder.path() / "out", architecture);
  std::size_t at = 0;
  for (const WholeParameter& parameter : whole_parameters_of(architecture)) {
    const std::vector<float>& own = values[at++];
    std::vector<double> read(own.size());
    weights.read_parameter_elements(parameter.name, 0, read);
    EXPECT_EQ(read, std::vector<double>(own.begin(), own.end())) << parameter.name;
    std::vector<double> middle(own.size() / 2);
    weights.read_parameter_elements(parameter.name, 3, middle);
    EXPECT_EQ(middle, std::vector<double>(own.begin() + 3, own.begin() + 3 + std::ssize(middle)));
  }
}

TEST(Weights, OfEveryLayoutComeBack) {
  for (const char* model : {kLlamaConfig, kMixtral, kGpt2, kGptNeox}) expect_round_trip(model);
}

TEST(Weights, InAnotherOrderComeBack) {
  const char* glm4 =
      "{layers: 2, hidden: 8, heads: 4, kv_heads: 2, head_dim: 6, ffn: 12, vocab: 20, "
      "norm_placement: both, rotary_fraction: 0.7}";
  EXPECT_EQ(huggingface::huggingface_family_of_model(model_of(glm4)).model_type, "glm4");
  expect_round_trip(glm4);
  const char* granite =
      "{layers: 2, hidden: 16, heads: 8, ffn: 6, vocab: 20, positions: 64, sinks: true, window: "
      "[5, "
      "0], attention_scale: 1, norm_epsilon: 1e-6, experts: {count: 8, top_k: 2, ffn: 6}}";
  EXPECT_EQ(huggingface::huggingface_family_of_model(model_of(granite)).model_type,
            "granitemoe_swa");
  expect_round_trip(granite);
}

TEST(Weights, OfSeveralFilesComeBack) {
  expect_round_trip(kLlamaConfig, {.shard_bytes = 1000});
  const Folder folder;
  const fs::path out = exported(folder.path(), kLlamaConfig, {.shard_bytes = 1000});
  EXPECT_FALSE(fs::exists(out / "model.safetensors"));
  EXPECT_TRUE(fs::exists(out / "model.safetensors.index.json"));
}

TEST(Weights, OfWiderTypesComeBack) {
  expect_round_trip(kGpt2, {.type = huggingface::WeightNumberType::kF64});
}

/// Compares a tensor of a written file with the checkpoint, element by element.
TEST(Weights, ATransposedTensorStandsAsTransformersWantsIt) {
  const Folder folder;
  const auto values = commit_checkpoint(folder.path(), kGpt2);
  huggingface::export_huggingface(folder.path() / checkpoint::checkpoint_folder_name(1),
                                  folder.path() / "out", {});
  std::size_t at = 0;
  for (const auto& parameter : whole_parameters_of(model_of(kGpt2))) {
    if (parameter.name == "layers.0.mlp.fc1") break;
    ++at;
  }
  const checkpoint::SafetensorsFile file(folder.path() / "out" / "model.safetensors");
  const checkpoint::SafetensorsEntry& stored = file.tensors().at("transformer.h.0.mlp.c_fc.weight");
  std::vector<double> found(96);
  huggingface::read_numbers_as_doubles(
      {.bytes = file.bytes_of(stored), .type = huggingface::WeightNumberType::kF32}, found);
  for (std::size_t in = 0; in < 8; ++in) {
    for (std::size_t out = 0; out < 12; ++out) {
      EXPECT_EQ(found[in * 12 + out], values[at][out * 8 + in]);
    }
  }
}

TEST(Weights, ATiedModelHasNoHead) {
  const Folder folder;
  const checkpoint::SafetensorsFile file(exported(folder.path(), kGpt2) / "model.safetensors");
  EXPECT_FALSE(file.tensors().contains("lm_head.weight"));
}

/// Rewrites the tensors of the only file in a directory.
void rewrite(const fs::path& out,
             const std::function<void(std::vector<checkpoint::FlatTensorView>&)>& change) {
  const fs::path path = out / "model.safetensors";
  std::vector<std::vector<std::byte>> bytes;
  std::vector<checkpoint::FlatTensorView> tensors;
  {
    const checkpoint::SafetensorsFile file(path);
    for (const auto& [name, stored] : file.tensors()) {
      const auto span = file.bytes_of(stored);
      bytes.emplace_back(span.begin(), span.end());
      tensors.push_back({name, stored.dtype, stored.shape, {}});
    }
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) tensors[i].bytes = bytes[i];
  change(tensors);
  fs::remove(path);
  checkpoint::write_safetensors_file(path, tensors);
}

std::string refusal(const char* model,
                    const std::function<void(std::vector<checkpoint::FlatTensorView>&)>& change) {
  const Folder folder;
  const fs::path out = exported(folder.path(), model);
  rewrite(out, change);
  return refusal_of([&] { const huggingface::HuggingFaceWeights weights(out, model_of(model)); });
}

checkpoint::FlatTensorView& find(std::vector<checkpoint::FlatTensorView>& tensors,
                                 const char* name) {
  return *std::ranges::find(tensors, name, &checkpoint::FlatTensorView::name);
}

TEST(Refused, AMissingTensor) {
  EXPECT_THAT(refusal(kLlamaConfig, [](auto& tensors) { tensors.erase(tensors.begin()); }),
              HasSubstr("the tensor 'lm_head.weight' is missing (our head.weight)"));
}

TEST(Refused, AnUnknownTensor) {
  EXPECT_THAT(
      refusal(kLlamaConfig,
              [](auto& tensors) { find(tensors, "lm_head.weight").name = "lm_head.scale"; }),
      HasSubstr("tensor 'lm_head.scale' belongs to nothing in the model (family llama)"));
}

TEST(Refused, AnotherShape) {
  EXPECT_THAT(
      refusal(kLlamaConfig, [](auto& tensors) { find(tensors, "lm_head.weight").shape = {8, 20}; }),
      HasSubstr("'lm_head.weight' has the shape [8, 20], the model's has [20, 8]"));
}

TEST(Refused, NumbersThatAreNoFloats) {
  EXPECT_THAT(
      refusal(kLlamaConfig, [](auto& tensors) { find(tensors, "lm_head.weight").dtype = "I32"; }),
      HasSubstr("is stored as I32; supported: F64, F32, F16, BF16"));
}

TEST(Accepted, NamesWithoutTheHeadsPrefixMasksAndCopiesOfATiedTable) {
  const std::vector<float> mask(4);
  EXPECT_EQ(
      refusal(kGpt2,
              [&](auto& tensors) {
                checkpoint::FlatTensorView head = find(tensors, "transformer.wte.weight");
                for (checkpoint::FlatTensorView& tensor : tensors)
                  tensor.name = tensor.name.substr(12);
                head.name = "lm_head.weight";
                tensors.push_back(head);
                tensors.push_back({"h.0.attn.bias", "F32", {4}, std::as_bytes(std::span(mask))});
              }),
      "");
  EXPECT_EQ(
      refusal(kGptNeox,
              [&](auto& tensors) { find(tensors, "embed_out.weight").name = "lm_head.weight"; }),
      "");
}

TEST(Refused, ATruncatedFile) {
  const Folder folder;
  const fs::path out = exported(folder.path(), kLlamaConfig);
  fs::resize_file(out / "model.safetensors", fs::file_size(out / "model.safetensors") - 4);
  EXPECT_THAT(refusal_of([&] {
                const huggingface::HuggingFaceWeights weights(out, model_of(kLlamaConfig));
              }),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("truncated")));
}

TEST(Refused, AnotherModel) {
  const Folder folder;
  const fs::path out = exported(folder.path(), kLlamaConfig);
  model::ModelArchitecture other = model_of(kLlamaConfig);
  other.norm_epsilon = 1e-6;
  other.ffn = 16;
  EXPECT_THAT(refusal_of([&] { const huggingface::HuggingFaceWeights weights(out, other); }),
              AllOf(HasSubstr("ffn: 12, here 16"), HasSubstr("norm_epsilon: none, here 1e-06")));
}

TEST(Refused, AFamilyWithoutNames) {
  const Folder folder;
  std::ofstream(folder.path() / "config.json")
      << R"({"model_type": "qwen3_vl_moe_text", "hidden_size": 64, "intermediate_size": 128,
             "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 1000})";
  EXPECT_THAT(refusal_of([&] {
                const huggingface::HuggingFaceWeights weights(folder.path(),
                                                              model_of(kLlamaConfig));
              }),
              HasSubstr("weights of this family cannot be read (supported: llama, "));
}

TEST(Refused, ADirectoryWithoutSafetensors) {
  const Folder folder;
  const fs::path out = exported(folder.path(), kLlamaConfig);
  fs::rename(out / "model.safetensors", out / "pytorch_model.bin");
  EXPECT_THAT(refusal_of([&] {
                const huggingface::HuggingFaceWeights weights(out, model_of(kLlamaConfig));
              }),
              HasSubstr("holds neither model.safetensors nor model.safetensors.index.json"));
}

TEST(Refused, AnIndexThatLeavesItsDirectory) {
  const Folder folder;
  const fs::path out = exported(folder.path(), kLlamaConfig, {.shard_bytes = 1000});
  std::ofstream(out / "model.safetensors.index.json")
      << R"({"weight_map": {"lm_head.weight": "../other.safetensors"}})";
  EXPECT_THAT(refusal_of([&] {
                const huggingface::HuggingFaceWeights weights(out, model_of(kLlamaConfig));
              }),
              HasSubstr("'../other.safetensors' is not a file in the folder of the index"));
}

TEST(Refused, ADirectoryThatIsThere) {
  const Folder folder;
  exported(folder.path(), kLlamaConfig);
  EXPECT_THAT(refusal_of([&] {
                huggingface::export_huggingface(
                    folder.path() / checkpoint::checkpoint_folder_name(1), folder.path() / "out",
                    {});
              }),
              HasSubstr("exists already"));
}

}  // namespace
}  // namespace stepwright::testing
