#include "stepwright/huggingface/config_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::huggingface {
namespace {

using Json = nlohmann::ordered_json;

constexpr Named<model::ActivationFunction> kActivationWords[] = {
    {model::ActivationFunction::kSilu, "silu"},
    {model::ActivationFunction::kGelu, "gelu"},
    {model::ActivationFunction::kGeluTanh, "gelu_new"},
    {model::ActivationFunction::kRelu, "relu"},
    {model::ActivationFunction::kSquaredRelu, "relu2"},
    // gpt-oss's files say silu and clamp besides.
    {model::ActivationFunction::kClampedSwiglu, "silu"}};

/// Writes the keys of the rotary scalings `yarn` and `longrope`.
void add_stretch(Json& json, const model::RotaryScaling& scaling) {
  json["original_max_position_embeddings"] = scaling.original_positions;
  if (scaling.attention_factor > 0) json["attention_factor"] = scaling.attention_factor;
  if (scaling.kind == model::RotaryScalingKind::kLongRope) {
    json["short_factor"] = scaling.short_factors;
    json["long_factor"] = scaling.long_factors;
    return;
  }
  json["beta_slow"] = scaling.low_frequency;
  json["beta_fast"] = scaling.high_frequency;
  if (scaling.mscale_all_dim > 0) {
    json["mscale"] = scaling.mscale;
    json["mscale_all_dim"] = scaling.mscale_all_dim;
  }
  if (!scaling.rounded) json["truncate"] = false;
}

Json scaling_of(const model::ModelArchitecture& model) {
  if (!model.rotary_scaling) return nullptr;
  const model::RotaryScaling& scaling = *model.rotary_scaling;
  Json json{{"rope_type", name_of(model::kRotaryScalingNames, scaling.kind)},
            {"factor", scaling.factor}};
  if (scaling.kind == model::RotaryScalingKind::kYarn ||
      scaling.kind == model::RotaryScalingKind::kLongRope) {
    add_stretch(json, scaling);
  } else if (scaling.kind == model::RotaryScalingKind::kLlama3) {
    json["low_freq_factor"] = scaling.low_frequency;
    json["high_freq_factor"] = scaling.high_frequency;
    json["original_max_position_embeddings"] = scaling.original_positions;
  }
  return json;
}

void add_sizes(Json& json, const model::ModelArchitecture& model) {
  json["num_hidden_layers"] = model.layers;
  json["hidden_size"] = model.hidden;
  json["num_attention_heads"] = model.heads;
  json["intermediate_size"] = model.ffn;
  json["vocab_size"] = model.vocabulary;
  if (model.positions > 0) json["max_position_embeddings"] = model.positions;
  json["hidden_act"] = name_of(kActivationWords, model.activation);
}

/// Writes sliding windows with a list of layer types, which the first versions of Mistral lack.
void add_windows(Json& json, const model::ModelArchitecture& model,
                 const HuggingFaceWeightFamily& family) {
  const std::vector<std::int64_t> windows = model::attention_windows_of_layers(model);
  const std::int64_t window = windows.empty() ? 0 : std::ranges::max(windows);
  if (window == 0) {
    json["sliding_window"] = nullptr;
    return;
  }
  json["sliding_window"] = window;
  if (family.model_type == "mistral" || family.model_type == "mixtral") return;
  json["use_sliding_window"] = true;
  json["layer_types"] = Json::array();
  for (const std::int64_t one : windows) {
    json["layer_types"].push_back(one > 0 ? "sliding_attention" : "full_attention");
  }
}

void add_experts(Json& json, const model::ModelArchitecture& model,
                 const HuggingFaceWeightFamily& family) {
  if (!model.experts) return;
  const model::MixtureOfExperts& experts = *model.experts;
  json["num_experts_per_tok"] = experts.top_k;
  if (family.model_type == "mixtral" || family.model_type == "gpt_oss") {
    json["num_local_experts"] = experts.count;
    json["intermediate_size"] = experts.ffn;
    return;
  }
  json["num_experts"] = experts.count;
  json["moe_intermediate_size"] = experts.ffn;
  json["norm_topk_prob"] = experts.normalize_top_k;
  if (model.ffn == 0) json["intermediate_size"] = experts.ffn;
  json["mlp_only_layers"] = Json::array();
  const std::vector<std::uint8_t> is_dense = model::dense_layer_flags(model);
  for (std::size_t i = 0; i < is_dense.size(); ++i) {
    if (is_dense[i] != 0) json["mlp_only_layers"].push_back(i);
  }
}

Json llama_config(const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family) {
  Json json = Json::object();
  add_sizes(json, model);
  json["num_key_value_heads"] = model.kv_heads;
  json["head_dim"] = model.head_dim;
  json["rms_norm_eps"] = model.norm_epsilon;
  json["rope_theta"] = model.rotary_base;
  json["rope_scaling"] = scaling_of(model);
  if (model.rotary_fraction != 1) json["partial_rotary_factor"] = model.rotary_fraction;
  if (family.model_type != "qwen2") json["attention_bias"] = model.qkv_bias;
  if (family.model_type == "llama") json["mlp_bias"] = model.mlp_bias;
  if (family.model_type != "llama") add_windows(json, model, family);
  add_experts(json, model, family);
  json["attention_dropout"] = 0.0;
  return json;
}

Json gpt2_config(const model::ModelArchitecture& model) {
  return {{"n_layer", model.layers},
          {"n_embd", model.hidden},
          {"n_head", model.heads},
          {"n_inner", model.ffn},
          {"vocab_size", model.vocabulary},
          {"n_positions", model.positions},
          {"activation_function", name_of(kActivationWords, model.activation)},
          {"layer_norm_epsilon", model.norm_epsilon},
          {"resid_pdrop", 0.0},
          {"embd_pdrop", 0.0},
          {"attn_pdrop", 0.0}};
}

Json gpt_neox_config(const model::ModelArchitecture& model) {
  Json json = Json::object();
  add_sizes(json, model);
  json["layer_norm_eps"] = model.norm_epsilon;
  json["rotary_pct"] = model.rotary_fraction;
  json["rotary_emb_base"] = model.rotary_base;
  json["rope_scaling"] = scaling_of(model);
  json["use_parallel_residual"] = model.parallel_residual;
  json["attention_bias"] = model.qkv_bias;
  json["attention_dropout"] = 0.0;
  json["hidden_dropout"] = 0.0;
  return json;
}

/// Returns how a model differs from the one that the family's file gives when it is read back;
/// nullopt if it cannot be written or read.
std::optional<std::vector<std::string>> lost_in(const model::ModelArchitecture& model,
                                                const HuggingFaceWeightFamily& family) {
  try {
    const Json json = huggingface_config_json(model, family);
    const YamlJsonDocument document = YamlJsonDocument::parse(json.dump(), "config.json");
    return differences_between_models(model::read_huggingface_config(document), model);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Json huggingface_config_json(const model::ModelArchitecture& model,
                             const HuggingFaceWeightFamily& family) {
  Json json{{"model_type", family.model_type}, {"architectures", {family.model_class}}};
  if (family.model_type == "gpt2") {
    json.update(gpt2_config(model));
  } else if (family.model_type == "gpt_neox") {
    json.update(gpt_neox_config(model));
  } else {
    json.update(llama_config(model, family));
  }
  json["tie_word_embeddings"] = model.tied;
  json["bos_token_id"] = nullptr;
  json["eos_token_id"] = nullptr;
  return json;
}

const HuggingFaceWeightFamily& huggingface_family_of_model(const model::ModelArchitecture& model) {
  const HuggingFaceWeightFamily* nearest = nullptr;
  std::vector<std::string> least;
  for (const HuggingFaceWeightFamily& family : huggingface_weight_families()) {
    auto lost = lost_in(model, family);
    if (!lost) continue;
    if (lost->empty()) return family;
    if (nearest != nullptr && lost->size() >= least.size()) continue;
    nearest = &family;
    least = *std::move(lost);
  }
  std::vector<std::string_view> known;
  for (const HuggingFaceWeightFamily& family : huggingface_weight_families())
    known.push_back(family.model_type);
  fail_unsupported(fmt::format(
      "model {}: no family of Hugging Face can express all of it ({}){}", model.name,
      fmt::join(known, ", "),
      nearest == nullptr ? ""
                         : fmt::format("; the nearest is {}, in which the model would have {}",
                                       nearest->model_type, fmt::join(least, "; "))));
}

}  // namespace stepwright::huggingface
