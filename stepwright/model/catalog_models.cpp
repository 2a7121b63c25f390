#include <algorithm>
#include <iterator>

#include "stepwright/model/catalog.h"
#include "stepwright/model/catalog_layered.h"
#include "stepwright/model/catalog_seeing.h"
#include "stepwright/model/layer_order.h"

namespace stepwright::model {
namespace {

// A family is an architecture without sizes: its switches.

/// RMSNorm, SwiGLU, rotary positions, no biases.
Architecture llama() { return {}; }

Architecture qwen2() { return {.qkv_bias = true}; }

Architecture qwen3() { return {.qk_norm = QkNorm::kHead}; }

/// GPT-2: LayerNorm, GELU, learned positions, biases, one table for embedding and head.
Architecture gpt() {
  return {.gated = false,
          .activation = Activation::kGeluTanh,
          .norm = Norm::kLayer,
          .norm_bias = true,
          .position = Position::kLearned,
          .qkv_bias = true,
          .attention_output_bias = true,
          .mlp_bias = true,
          .tied = true};
}

/// Norms over all heads of queries, and of keys.
Architecture olmoe() { return {.qk_norm = QkNorm::kWhole}; }

Architecture gpt_neox() {
  Architecture model = gpt();
  model.activation = Activation::kGelu;
  model.position = Position::kRope;
  model.rotary_fraction = 0.25;
  model.parallel_residual = true;
  model.tied = false;
  return model;
}

Architecture bloom() {
  Architecture model = gpt();
  model.position = Position::kAlibi;
  model.embedding_norm = true;
  return model;
}

/// LayerNorm without a bias, and no other bias.
Architecture mpt() {
  return {.gated = false,
          .activation = Activation::kGelu,
          .norm = Norm::kLayer,
          .position = Position::kAlibi,
          .tied = true};
}

Architecture nemotron() {
  return {.gated = false,
          .activation = Activation::kSquaredRelu,
          .norm = Norm::kLayer,
          .norm_bias = true,
          .norm_unit_offset = true,
          .rotary_fraction = 0.5};
}

struct Row {
  std::string_view name;
  Architecture (*family)();
  std::int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, positions;
};

// From the models' config.json; Megatron's GPT sizes from arXiv 2104.04473 (145B, 1T) and
// 2205.05198 (22B), GPT-3's from 2005.14165, Nemotron-4's from 2402.16819 and 2406.11704.
constexpr Row kDense[] = {
    // name, family, layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, positions
    {"bloom-176b", bloom, 70, 14336, 112, 112, 128, 57344, 250880, 2048},
    {"gpt-145b", gpt, 80, 12288, 96, 96, 128, 49152, 51200, 2048},
    {"gpt-1t", gpt, 128, 25600, 160, 160, 160, 102400, 51200, 2048},
    {"gpt-22b", gpt, 48, 6144, 64, 64, 96, 24576, 51200, 2048},
    {"gpt-neox-20b", gpt_neox, 44, 6144, 64, 64, 96, 24576, 50432, 2048},
    {"gpt2", gpt, 12, 768, 12, 12, 64, 3072, 50257, 1024},
    {"gpt2-xl", gpt, 48, 1600, 25, 25, 64, 6400, 50257, 1024},
    {"gpt3-175b", gpt, 96, 12288, 96, 96, 128, 49152, 50257, 2048},
    {"llama-2-13b", llama, 40, 5120, 40, 40, 128, 13824, 32000, 4096},
    {"llama-2-70b", llama, 80, 8192, 64, 8, 128, 28672, 32000, 4096},
    {"llama-2-7b", llama, 32, 4096, 32, 32, 128, 11008, 32000, 4096},
    {"llama-3-70b", llama, 80, 8192, 64, 8, 128, 28672, 128256, 8192},
    {"llama-3-8b", llama, 32, 4096, 32, 8, 128, 14336, 128256, 8192},
    {"llama-3.1-405b", llama, 126, 16384, 128, 8, 128, 53248, 128256, 131072},
    {"llama-3.1-70b", llama, 80, 8192, 64, 8, 128, 28672, 128256, 131072},
    {"llama-3.1-8b", llama, 32, 4096, 32, 8, 128, 14336, 128256, 131072},
    {"llama-3.2-1b", llama, 16, 2048, 32, 8, 64, 8192, 128256, 131072},
    {"llama-3.2-3b", llama, 28, 3072, 24, 8, 128, 8192, 128256, 131072},
    {"llama-30b", llama, 60, 6656, 52, 52, 128, 17920, 32000, 2048},
    {"llama-65b", llama, 80, 8192, 64, 64, 128, 22016, 32000, 2048},
    {"mistral-7b", llama, 32, 4096, 32, 8, 128, 14336, 32000, 32768},
    {"mistral-7b-v0.3", llama, 32, 4096, 32, 8, 128, 14336, 32768, 32768},
    {"mpt-30b", mpt, 48, 7168, 64, 64, 112, 28672, 50432, 8192},
    {"mpt-7b", mpt, 32, 4096, 32, 32, 128, 16384, 50432, 2048},
    {"nemotron-4-15b", nemotron, 32, 6144, 48, 8, 128, 24576, 256000, 4096},
    {"nemotron-4-340b", nemotron, 96, 18432, 96, 8, 192, 73728, 256000, 4096},
    {"pythia-1.4b", gpt_neox, 24, 2048, 16, 16, 128, 8192, 50304, 2048},
    {"qwen2-0.5b", qwen2, 24, 896, 14, 2, 64, 4864, 151936, 131072},
    {"qwen2-1.5b", qwen2, 28, 1536, 12, 2, 128, 8960, 151936, 131072},
    {"qwen2-72b", qwen2, 80, 8192, 64, 8, 128, 29568, 152064, 131072},
    {"qwen2-7b", qwen2, 28, 3584, 28, 4, 128, 18944, 152064, 131072},
    {"qwen2.5-0.5b", qwen2, 24, 896, 14, 2, 64, 4864, 151936, 32768},
    {"qwen2.5-1.5b", qwen2, 28, 1536, 12, 2, 128, 8960, 151936, 131072},
    {"qwen2.5-14b", qwen2, 48, 5120, 40, 8, 128, 13824, 152064, 131072},
    {"qwen2.5-3b", qwen2, 36, 2048, 16, 2, 128, 11008, 151936, 32768},
    {"qwen2.5-32b", qwen2, 64, 5120, 40, 8, 128, 27648, 152064, 131072},
    {"qwen2.5-72b", qwen2, 80, 8192, 64, 8, 128, 29568, 152064, 131072},
    {"qwen2.5-7b", qwen2, 28, 3584, 28, 4, 128, 18944, 152064, 131072},
    {"qwen3-0.6b", qwen3, 28, 1024, 16, 8, 128, 3072, 151936, 40960},
    {"qwen3-1.7b", qwen3, 28, 2048, 16, 8, 128, 6144, 151936, 40960},
    {"qwen3-14b", qwen3, 40, 5120, 40, 8, 128, 17408, 151936, 40960},
    {"qwen3-32b", qwen3, 64, 5120, 64, 8, 128, 25600, 151936, 40960},
    {"qwen3-4b", qwen3, 36, 2560, 32, 8, 128, 9728, 151936, 40960},
    {"qwen3-8b", qwen3, 36, 4096, 32, 8, 128, 12288, 151936, 40960},
};

/// The numbers of all models whose name begins so, where they are not the defaults of
/// `Architecture`.
struct Numbers {
  std::string_view models;
  double norm_epsilon, rotary_base;
};

constexpr Numbers kNumbers[] = {
    {"deepseek-v", 1e-6, 1e4}, {"kimi-k2", 1e-6, 5e4}, {"llama-3-", 1e-5, 5e5},
    {"llama-3.", 1e-5, 5e5},   {"mixtral", 1e-5, 1e6}, {"mistral-7b-v0.3", 1e-5, 1e6},
    {"moonlight", 1e-6, 5e4},  {"qwen2", 1e-6, 1e6},   {"qwen3", 1e-6, 1e6},
};

struct ExpertRow {
  Row base;
  std::int64_t count, top_k, ffn, shared_ffn;
};

constexpr ExpertRow kSparse[] = {
    // ..., experts, top_k, their ffn, shared ffn
    {{"deepseek-v2", llama, 60, 5120, 128, 128, 192, 12288, 102400, 163840}, 160, 6, 1536, 3072},
    {{"deepseek-v2-lite", llama, 27, 2048, 16, 16, 192, 10944, 102400, 163840}, 64, 6, 1408, 2816},
    {{"deepseek-v3", llama, 61, 7168, 128, 128, 192, 18432, 129280, 163840}, 256, 8, 2048, 2048},
    {{"kimi-k2", llama, 61, 7168, 64, 64, 192, 18432, 163840, 131072}, 384, 8, 2048, 2048},
    {{"mixtral-8x22b", llama, 56, 6144, 48, 8, 128, 16384, 32768, 65536}, 8, 2, 16384, 0},
    {{"mixtral-8x7b", llama, 32, 4096, 32, 8, 128, 14336, 32000, 32768}, 8, 2, 14336, 0},
    {{"moonlight-16b-a3b", llama, 27, 2048, 16, 16, 192, 11264, 163840, 8192}, 64, 6, 1408, 2816},
    {{"olmoe-1b-7b", olmoe, 16, 2048, 16, 16, 128, 1024, 50304, 4096}, 64, 8, 1024, 0},
    {{"qwen2-57b-a14b", qwen2, 28, 3584, 28, 4, 128, 18944, 151936, 131072}, 64, 8, 2560, 20480},
    {{"qwen3-235b-a22b", qwen3, 94, 4096, 64, 4, 128, 12288, 151936, 40960}, 128, 8, 1536, 0},
    {{"qwen3-30b-a3b", qwen3, 48, 2048, 32, 4, 128, 6144, 151936, 40960}, 128, 8, 768, 0},
};

Architecture build(const Row& row) {
  Architecture model = row.family();
  model.name = row.name;
  model.layers = row.layers;
  model.hidden = row.hidden;
  model.heads = row.heads;
  model.kv_heads = row.kv_heads;
  model.head_dim = row.head_dim;
  model.ffn = row.ffn;
  model.vocabulary = row.vocabulary;
  model.positions = row.positions;
  for (const Numbers& numbers : kNumbers) {
    if (!row.name.starts_with(numbers.models)) continue;
    model.norm_epsilon = numbers.norm_epsilon;
    model.rotary_base = numbers.rotary_base;
  }
  return model;
}

Architecture build(const ExpertRow& row) {
  Architecture model = build(row.base);
  model.experts =
      Experts{.count = row.count, .top_k = row.top_k, .ffn = row.ffn, .shared_ffn = row.shared_ffn};
  return model;
}

/// Latent attention in all layers, experts behind the first ones, rotary positions stretched.
void use_deepseek_blocks(Architecture& model, std::int64_t query_rank, std::size_t dense_layers,
                         double stretch, double mscale = 1) {
  model.latent = LatentAttention{.query_rank = query_rank};
  std::vector<std::uint8_t> is_dense(static_cast<std::size_t>(model.layers), 0);
  std::fill_n(is_dense.begin(), dense_layers, std::uint8_t{1});
  set_dense_layers(model, is_dense);
  if (stretch == 1) return;
  model.rotary_scaling = usual_scaling(RotaryScalingKind::kYarn);
  model.rotary_scaling->factor = stretch;
  model.rotary_scaling->original_positions = 4096;
  model.rotary_scaling->mscale = model.rotary_scaling->mscale_all_dim = mscale;
}

/// The router of DeepSeek-V3.
void route_by_sigmoid(Architecture& model, double scale) {
  model.experts->correction_bias = true;
  model.experts->scoring = Scoring::kSigmoid;
  model.experts->scale = scale;
}

void group_experts(Architecture& model, std::int64_t groups, std::int64_t top_groups) {
  model.experts->groups = groups;
  model.experts->top_groups = top_groups;
}

/// Dense models whose embedding and head share one table.
constexpr std::string_view kTied[] = {"llama-3.2-1b", "llama-3.2-3b", "qwen2-0.5b", "qwen2-1.5b",
                                      "qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b", "qwen3-0.6b",
                                      "qwen3-1.7b",   "qwen3-4b"};

/// Adds what a few models have beyond their family.
void add_specialities(Architecture& model) {
  if (model.name.starts_with("llama-3.")) {
    const double factor = model.name.starts_with("llama-3.2") ? 32 : 8;
    model.rotary_scaling = RotaryScaling{.kind = RotaryScalingKind::kLlama3, .factor = factor};
  }
  if (std::ranges::find(kTied, model.name) != std::end(kTied)) {
    model.tied = true;
  } else if (model.name == "mistral-7b") {
    set_windows(model, std::vector<std::int64_t>(static_cast<std::size_t>(model.layers), 4096));
  } else if (model.name == "gpt-neox-20b") {
    model.activation = Activation::kGeluTanh;
  } else if (model.name == "qwen2-57b-a14b") {
    model.experts->shared_gate = true;
    model.experts->normalize_top_k = false;
  } else if (model.name == "olmoe-1b-7b") {
    model.experts->normalize_top_k = false;
  } else if (model.name == "moonlight-16b-a3b") {
    use_deepseek_blocks(model, 0, 1, 1);
    route_by_sigmoid(model, 2.446);
  } else if (model.name == "deepseek-v2-lite") {
    use_deepseek_blocks(model, 0, 1, 40, 0.707);
    model.experts->normalize_top_k = false;
  } else if (model.name == "deepseek-v2") {
    use_deepseek_blocks(model, 1536, 1, 40, 0.707);
    group_experts(model, 8, 3);
    model.experts->normalize_top_k = false;
    model.experts->scale = 16;
  } else if (model.name == "kimi-k2") {
    use_deepseek_blocks(model, 1536, 1, 32);
    model.rotary_scaling->high_frequency = 1;
    route_by_sigmoid(model, 2.827);
  } else if (model.name == "deepseek-v3") {
    use_deepseek_blocks(model, 1536, 3, 40);
    route_by_sigmoid(model, 2.5);
    group_experts(model, 8, 4);
    model.multi_token_layers = 1;
  }
}

}  // namespace

std::vector<std::string_view> built_in_models() {
  std::vector<std::string_view> names;
  for (const Row& row : kDense) names.push_back(row.name);
  for (const ExpertRow& row : kSparse) names.push_back(row.base.name);
  for (const LayeredModel& layered : layered_models()) names.push_back(layered.name);
  std::ranges::copy(seeing_models(), std::back_inserter(names));
  std::ranges::sort(names);
  return names;
}

std::optional<Architecture> built_in_model(std::string_view name) {
  if (const auto decoder = decoder_below(name)) {
    return seeing_model(name, built_in_model(*decoder).value());
  }
  std::optional<Architecture> model;
  for (const Row& row : kDense) {
    if (row.name == name) model = build(row);
  }
  for (const ExpertRow& row : kSparse) {
    if (row.base.name == name) model = build(row);
  }
  if (model) add_specialities(*model);
  for (const LayeredModel& layered : layered_models()) {
    if (layered.name != name) continue;
    model = layered.make();
    model->name = name;
  }
  return model;
}

}  // namespace stepwright::model
