#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "stepwright/checkpoint/directory.h"
#include "stepwright/checkpoint/shards.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/parameters.h"

namespace stepwright::testing {

inline constexpr const char* kLlamaConfig =
    "{layers: 2, hidden: 8, heads: 4, kv_heads: 2, head_dim: 4, ffn: 12, vocab: 20}";
inline constexpr const char* kMixtral =
    "{layers: 1, hidden: 8, heads: 4, kv_heads: 2, ffn: 6, vocab: 20, rotary_base: 1e6, "
    "experts: {count: 3, top_k: 2, ffn: 6}}";
inline constexpr const char* kGpt2 =
    "{layers: 1, hidden: 8, heads: 2, ffn: 12, vocab: 20, positions: 9, position: learned, "
    "norm: layernorm, bias: true, gated: false, tied: true, activation: gelu_tanh}";
inline constexpr const char* kGptNeox =
    "{layers: 1, hidden: 8, heads: 2, ffn: 12, vocab: 20, norm: layernorm, bias: true, "
    "gated: false, parallel_residual: true, rotary_fraction: 0.5}";

inline model::ModelArchitecture model_of(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::parse("model: " + text, "job.yaml");
  return model::read_inline_model(document.root().get("model"));
}

/// Name of a parameter in checkpoints, and its number of elements.
struct WholeParameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
};

inline std::vector<WholeParameter> whole_parameters_of(const model::ModelArchitecture& model) {
  std::vector<WholeParameter> list;
  const auto add = [&](const std::string& prefix,
                       const std::vector<model::ModelParameter>& parameters) {
    for (const model::ModelParameter& p : parameters) {
      std::vector<std::int64_t> shape{p.rows};
      if (p.expert) shape.insert(shape.begin(), p.copies);
      if (!p.vector) shape.push_back(p.columns);
      list.push_back({prefix + std::string(p.name), shape, p.elements()});
    }
  };
  add("", model::embedding_parameters(model));
  for (std::int64_t i = 0; i < model.layers; ++i) {
    add("layers." + std::to_string(i) + ".", model::layer_parameters(model, model.layer_class(i)));
  }
  add("", model::head_parameters(model));
  return list;
}

/// Commits a checkpoint of a model in which all elements of all parameters have different values;
/// returns the values of all parameters, in order.
inline std::vector<std::vector<float>> commit_checkpoint(const std::filesystem::path& folder,
                                                         const std::string& model) {
  checkpoint::CheckpointIndex index{
      .run = {.step = 1, .length = 16}, .dtype = "F32", .states = {"weights"}};
  index.run.plan =
      "stepwright: plan/1\njob:\n  model: " + model +
      "\n  cluster: {name: here, device: {name: cpu, memory: 16e9, memory_bandwidth: 2e10, peak: "
      "{fp32: 2e11}}, devices_per_node: 8, devices: 1, levels: [{name: bus, size: 8, bandwidth: "
      "1e9}], nics_per_node: 1, nic: 1e9}\n  batch: {sequences: 4, length: 16}\n  precision: "
      "fp32\nmicro_batch: 2\n";
  std::vector<std::vector<float>> values;
  std::vector<checkpoint::FlatTensorView> tensors;
  checkpoint::RankCheckpointPart part{{"r0", {}}, {}};
  float next = 1;
  for (const WholeParameter& p : whole_parameters_of(model_of(model))) {
    std::vector<float>& own = values.emplace_back();
    for (std::int64_t i = 0; i < p.elements; ++i) own.push_back(next++);
    part.tensors.push_back({p.name, p.shape, {{0, {{0, p.elements}}}}});
    tensors.push_back({"weights/" + p.name, "F32", {p.elements}, {}});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].bytes = std::as_bytes(std::span(values[i]));
  }
  const auto writing = checkpoint::uncommitted_checkpoint_directory(folder, 1, "run");
  std::filesystem::create_directories(writing);
  part.file.sum = checkpoint::write_safetensors_file(writing / part.file.name, tensors);
  checkpoint::add_checkpoint_part(index, part);
  checkpoint::commit_checkpoint_folder(writing, folder, index);
  return values;
}

}  // namespace stepwright::testing
