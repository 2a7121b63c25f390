#include "stepwright/validate/rows/row_model.h"

#include <algorithm>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/model/catalog.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

/// A word of a model's name and the built-in model whose switches its family has; the first match
/// counts. Sizes always come from the row.
struct Family {
  std::string_view word;
  std::string_view model;
};
constexpr Family kFamilies[] = {
    {"gpt-oss", "llama-2-7b"},  {"gpt oss", "llama-2-7b"},   {"neox", "gpt-neox-20b"},
    {"pythia", "pythia-1.4b"},  {"bloomberg", "bloom-176b"}, {"bloom-1", "bloom-176b"},
    {"bloom", "gpt3-175b"},     {"mpt", "mpt-7b"},           {"nemotron", "nemotron-4-15b"},
    {"qwen3", "qwen3-8b"},      {"qwen", "qwen2-7b"},        {"gpt", "gpt3-175b"},
    {"mt-nlg", "gpt3-175b"},    {"turing", "gpt3-175b"},     {"opt-", "gpt3-175b"},
    {"deepseek", "llama-2-7b"}, {"kimi", "llama-2-7b"},      {"moonlight", "llama-2-7b"},
};
constexpr std::string_view kOtherFamily = "llama-2-7b";  ///< RMSNorm, SwiGLU, rotary positions.

Architecture family_of(const Words& name) {
  for (const Family& family : kFamilies) {
    if (name.has(family.word)) return *built_in_model(family.model);
  }
  return *built_in_model(kOtherFamily);
}

std::optional<Skipped> cannot_express(const RunRow& row, const Words& name, const Words& moe) {
  if (name.has("lora") || moe.has("lora r")) return Skipped{"LoRA: frozen weights"};
  if (moe.has("mamba", "hybrid") || name.has("mamba", "hybrid", "nemotron-h", "nemotron_h")) {
    return Skipped{"hybrid of other layers than attention and MLP"};
  }
  const auto missing = [](std::string_view what) {
    return Skipped{std::string(what) + " not stated"};
  };
  if (!row.layers) return missing("layers");
  if (!row.hidden) return missing("hidden");
  if (!row.heads) return missing("heads");
  if (!row.vocabulary) return missing("vocab");
  if (!row.length) return missing("seq_len");
  return std::nullopt;
}

/// Latent attention of DeepSeek's dimensions; large models project queries through a rank, too.
LatentAttention latent_of(const RunRow& row) {
  constexpr std::int64_t kWideModel = 5120;
  return {.query_rank = *row.hidden >= kWideModel ? 1536 : 0};
}

std::int64_t head_dim_of(const RunRow& row, const Words& name, const Words& moe) {
  if (const auto stated = moe.number_after("head_dim")) return *stated;
  if (name.has("qwen3")) return 128;
  if (name.has("gpt-oss", "gpt oss")) return 64;
  return *row.hidden / *row.heads;
}

void set_dense_layers(Architecture& model, const Words& moe) {
  const auto layers = static_cast<std::size_t>(model.layers);
  auto& dense = model.experts->is_dense;
  std::size_t leading = moe.has("first layer dense") ? 1 : 0;
  if (const auto first = moe.number_after("first")) leading = static_cast<std::size_t>(*first);
  if (leading > 0) {
    dense.assign(layers, 0);
    std::fill_n(dense.begin(), std::min(leading, layers), std::uint8_t{1});
  }
  if (moe.has("every 2nd layer")) {
    dense.assign(layers, 0);
    for (std::size_t i = 0; i < layers; i += 2) dense[i] = 1;
  }
}

/// Reads "256 routed experts, top-8, 1 shared, moe_ffn 2048, first 3 layers dense, MLA".
std::optional<Skipped> set_experts(Architecture& model, const RunRow& row, const Words& moe) {
  auto count = moe.number_before("routed experts");
  if (!count) count = moe.number_before("experts");
  auto top_k = moe.number_after("top-");
  if (!top_k) top_k = moe.number_after("top");
  if (!count || !top_k) return Skipped{"experts not stated"};
  const std::int64_t ffn = moe.number_after("moe_ffn").value_or(row.ffn.value_or(0));
  if (ffn == 0) return Skipped{"width of the experts not stated"};
  model.experts = Experts{.count = *count, .top_k = *top_k, .ffn = ffn};
  if (const auto shared = moe.number_before("shared")) model.experts->shared_ffn = *shared * ffn;
  if (moe.has("shared expert")) {  // Qwen2-MoE: one, as wide as all routed experts of a token
    model.experts->shared_ffn = *top_k * ffn;
    model.experts->shared_gate = true;
  }
  set_dense_layers(model, moe);
  if (model.experts->is_dense.empty()) model.ffn = 0;
  return std::nullopt;
}

void set_windows(Architecture& model, const Words& name) {
  if (!name.has("gpt-oss", "gpt oss")) return;
  constexpr std::int64_t kWindow = 128;  // every other layer, gpt-oss model card
  model.windows.assign(static_cast<std::size_t>(model.layers), 0);
  for (std::size_t i = 0; i < model.windows.size(); i += 2) model.windows[i] = kWindow;
}

}  // namespace

std::variant<Architecture, Skipped> row_model(const RunRow& row) {
  const Words name(row.model);
  const Words moe(row.moe);
  if (auto skipped = cannot_express(row, name, moe)) return *skipped;
  Architecture model = family_of(name);
  model.name = row.model;
  model.layers = *row.layers;
  model.hidden = *row.hidden;
  model.heads = *row.heads;
  model.kv_heads = row.kv_heads.value_or(model.heads);
  model.head_dim = head_dim_of(row, name, moe);
  model.vocabulary = *row.vocabulary;
  model.positions = *row.length;
  model.dropout = 0;
  model.windows.clear();
  model.multi_token_layers = 0;
  if (moe.has("mla")) {
    model.latent = latent_of(row);
    model.kv_heads = model.heads;
    model.head_dim = model.latent->nope_head_dim + model.latent->rope_head_dim;
  }
  set_windows(model, name);
  if (!row.ffn && moe.empty()) return Skipped{"ffn_hidden not stated"};
  model.ffn = row.ffn.value_or(0);
  if (!moe.empty()) {
    if (auto skipped = set_experts(model, row, moe)) return *skipped;
  }
  try {
    check(model, "row");
  } catch (const Error& error) {
    return Skipped{std::string("contradicting sizes of the model")};
  }
  return model;
}

}  // namespace stepwright
