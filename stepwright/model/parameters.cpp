#include "stepwright/model/parameters.h"

#include <algorithm>
#include <numeric>

#include "stepwright/model/adapters.h"
#include "stepwright/model/state_mixer.h"

namespace stepwright::model {
namespace {

using Parameters = std::vector<ModelParameter>;

ModelParameter norm(std::string_view name, std::int64_t length) {
  return {.name = name, .rows = length, .vector = true, .start = ParameterInitialization::kOnes};
}

ModelParameter bias(std::string_view name, std::int64_t length,
                    TensorParallelSplit split = TensorParallelSplit::kReplicated) {
  return {.name = name,
          .rows = length,
          .split = split,
          .vector = true,
          .start = ParameterInitialization::kZeros};
}

ModelParameter matrix(std::string_view name, std::int64_t rows, std::int64_t columns,
                      TensorParallelSplit split) {
  return {.name = name, .rows = rows, .columns = columns, .split = split};
}

/// Returns a matrix that projects back into the residual stream.
ModelParameter residual_matrix(std::string_view name, std::int64_t rows, std::int64_t columns) {
  ModelParameter parameter = matrix(name, rows, columns, TensorParallelSplit::kRow);
  parameter.start = ParameterInitialization::kResidual;
  return parameter;
}

/// Sets the rows of an MLP's first product or of its bias: gate and up are fused if the MLP is
/// gated.
ModelParameter wide(ModelParameter parameter, const ModelArchitecture& model, std::int64_t ffn) {
  parameter.rows = ffn * (model.gated ? 2 : 1);
  if (model.gated) parameter.fused = {ffn, ffn};
  return parameter;
}

void add_norm(Parameters& list, const ModelArchitecture& model, std::string_view name,
              std::string_view bias_of_norm) {
  if (!model.norm_weight) return;
  list.push_back(norm(name, model.hidden));
  if (model.norm_unit_offset) list.back().start = ParameterInitialization::kZeros;
  if (model.norm_bias) list.push_back(bias(bias_of_norm, model.hidden));
}

/// Sets the rows of a query or key norm's weight or bias.
ModelParameter head_norm(ModelParameter parameter, const ModelArchitecture& model,
                         std::int64_t heads) {
  const bool one = model.qk_norm == QkNorm::kHead;
  parameter.rows = one ? model.head_dim : heads * model.head_dim;
  parameter.per_head = one;
  if (!one) parameter.split = TensorParallelSplit::kColumn;
  if (model.norm_unit_offset && parameter.start == ParameterInitialization::kOnes)
    parameter.start = ParameterInitialization::kZeros;
  return parameter;
}

void add_head_norms(Parameters& list, const ModelArchitecture& model) {
  if (model.qk_norm == QkNorm::kNone || model.qk_norm == QkNorm::kPlain) return;
  list.push_back(head_norm(norm("attention.q_norm", 0), model, model.heads));
  if (model.qk_norm_bias) {
    list.push_back(head_norm(bias("attention.q_norm_bias", 0), model, model.heads));
  }
  list.push_back(head_norm(norm("attention.k_norm", 0), model, model.kv_heads));
  if (model.qk_norm_bias) {
    list.push_back(head_norm(bias("attention.k_norm_bias", 0), model, model.kv_heads));
  }
}

/// Adds an indexer's projections, which every tensor rank holds whole (Megatron-LM,
/// transformer/experimental_attention_variant/dsa.py).
void add_indexer(Parameters& list, const ModelArchitecture& model) {
  const LatentAttention& latent = *model.latent;
  list.push_back(matrix("attention.index_q", latent.index_heads * latent.index_head_dim,
                        latent.query_rank, TensorParallelSplit::kReplicated));
  list.push_back(matrix("attention.index_k", latent.index_head_dim, model.hidden,
                        TensorParallelSplit::kReplicated));
  list.push_back(norm("attention.index_norm", latent.index_head_dim));
  list.push_back(bias("attention.index_norm_bias", latent.index_head_dim));
  list.push_back(matrix("attention.index_weights", latent.index_heads, model.hidden,
                        TensorParallelSplit::kReplicated));
}

void add_latent_projections(Parameters& list, const ModelArchitecture& model) {
  const LatentAttention& latent = *model.latent;
  const std::int64_t queries = model.heads * model.head_dim;
  if (latent.query_rank > 0) {
    list.push_back(matrix("attention.q_down", latent.query_rank, model.hidden,
                          TensorParallelSplit::kReplicated));
    list.push_back(norm("attention.q_norm", latent.query_rank));
    list.push_back(
        matrix("attention.q_up", queries, latent.query_rank, TensorParallelSplit::kColumn));
  } else {
    list.push_back(matrix("attention.q", queries, model.hidden, TensorParallelSplit::kColumn));
  }
  list.push_back(matrix("attention.kv_down", latent.kv_rank + latent.rope_head_dim, model.hidden,
                        TensorParallelSplit::kReplicated));
  list.push_back(norm("attention.kv_norm", latent.kv_rank));
  list.push_back(matrix("attention.kv_up",
                        model.heads * (latent.nope_head_dim + latent.value_head_dim),
                        latent.kv_rank, TensorParallelSplit::kColumn));
  if (latent.index_heads > 0) add_indexer(list, model);
}

void add_projections(Parameters& list, const ModelArchitecture& model) {
  const std::int64_t queries = model.heads * model.head_dim;
  const std::int64_t keys = model.kv_heads * model.head_dim;
  const std::int64_t gates = model.attention_gate ? queries : 0;
  const std::int64_t rows = queries + 2 * keys + gates;
  list.push_back(matrix("attention.qkv", rows, model.hidden, TensorParallelSplit::kColumn));
  list.back().fused = {queries, keys, keys, gates};
  if (model.qkv_bias) {
    list.push_back(bias("attention.qkv_bias", rows, TensorParallelSplit::kColumn));
    list.back().fused = {queries, keys, keys, gates};
  }
  add_head_norms(list, model);
}

void add_attention(Parameters& list, const ModelArchitecture& model) {
  if (model.latent) {
    add_latent_projections(list, model);
  } else {
    add_projections(list, model);
  }
  if (model.gate_bias)
    list.push_back(bias("attention.gate", model.heads, TensorParallelSplit::kColumn));
  if (model.sinks)
    list.push_back(bias("attention.sinks", model.heads, TensorParallelSplit::kColumn));
  list.push_back(
      residual_matrix("attention.output", model.hidden, model.heads * model.value_head_elements()));
  if (model.attention_output_bias) list.push_back(bias("attention.output_bias", model.hidden));
}

void add_mlp(Parameters& list, const ModelArchitecture& model, std::int64_t ffn) {
  list.push_back(
      wide(matrix("mlp.fc1", 0, model.hidden, TensorParallelSplit::kColumn), model, ffn));
  if (model.mlp_bias)
    list.push_back(wide(bias("mlp.fc1_bias", 0, TensorParallelSplit::kColumn), model, ffn));
  if (model.activation == ActivationFunction::kXielu) {
    list.push_back(bias("mlp.activation", 2));
    list.back().per_head = true;
  }
  list.push_back(residual_matrix("mlp.fc2", model.hidden, ffn));
  if (model.mlp_bias) list.push_back(bias("mlp.fc2_bias", model.hidden));
}

void add_routed(Parameters& list, const ModelArchitecture& model, ModelParameter parameter) {
  parameter.copies = model.experts->count;
  parameter.expert = true;
  list.push_back(parameter);
}

void add_routed_experts(Parameters& list, const ModelArchitecture& model) {
  const MixtureOfExperts& experts = *model.experts;
  add_routed(
      list, model,
      wide(matrix("experts.fc1", 0, model.expert_input_width(), TensorParallelSplit::kColumn),
           model, experts.ffn));
  if (experts.bias) {
    add_routed(list, model,
               wide(bias("experts.fc1_bias", 0, TensorParallelSplit::kColumn), model, experts.ffn));
  }
  add_routed(list, model, residual_matrix("experts.fc2", model.expert_input_width(), experts.ffn));
  if (experts.bias) add_routed(list, model, bias("experts.fc2_bias", model.expert_input_width()));
}

void add_experts(Parameters& list, const ModelArchitecture& model) {
  const MixtureOfExperts& experts = *model.experts;
  list.push_back(
      matrix("router.weight", experts.count, model.hidden, TensorParallelSplit::kReplicated));
  if (experts.router_bias) list.push_back(bias("router.weight_bias", experts.count));
  if (experts.correction_bias) {
    list.push_back(bias("router.correction_bias", experts.count));
    list.back().trained = false;
  }
  if (experts.latent > 0) {
    list.push_back(matrix("experts.latent_in", experts.latent, model.hidden,
                          TensorParallelSplit::kReplicated));
  }
  add_routed_experts(list, model);
  if (experts.latent > 0) {
    list.push_back(residual_matrix("experts.latent_out", model.hidden, experts.latent));
    list.back().split = TensorParallelSplit::kReplicated;
  }
  if (experts.shared_ffn == 0) return;
  list.push_back(wide(matrix("shared.fc1", 0, model.hidden, TensorParallelSplit::kColumn), model,
                      experts.shared_ffn));
  list.push_back(residual_matrix("shared.fc2", model.hidden, experts.shared_ffn));
  if (experts.shared_gate) {
    list.push_back(matrix("shared.gate", 1, model.hidden, TensorParallelSplit::kReplicated));
  }
}

void add_mixer(Parameters& list, const ModelArchitecture& model, const LayerClass& layer) {
  if (layer.mixer == TokenMixer::kNone) return;
  if (model.has_norms_before_attention_and_mlp(layer))
    add_norm(list, model, "norm.attention", "norm.attention_bias");
  if (layer.attends()) add_attention(list, model);
  if (layer.recurrent_mixer_kind() != TokenMixer::kNone) {
    for (const ModelParameter& parameter :
         recurrent_mixer_parameters(model, layer.recurrent_mixer_kind())) {
      list.push_back(parameter);
    }
  }
  if (model.norms_results(layer)) {
    add_norm(list, model, "norm.attention_out", "norm.attention_out_bias");
  }
}

void add_feed_forward(Parameters& list, const ModelArchitecture& model, const LayerClass& layer) {
  if (layer.feed_forward == FeedForward::kNone) return;
  const bool has_own_norm = !model.shared_input_norm || layer.mixer == TokenMixer::kNone;
  if (has_own_norm && model.has_norms_before_attention_and_mlp(layer)) {
    add_norm(list, model, "norm.mlp", "norm.mlp_bias");
  }
  if (layer.has_experts()) {
    add_experts(list, model);
  } else {
    add_mlp(list, model, model.dense_mlp_width(layer));
  }
  if (model.norms_results(layer)) add_norm(list, model, "norm.mlp_out", "norm.mlp_out_bias");
}

/// Adds the A and the B of a weight's adapter, unless no part of the weight is a target. A stacks
/// the A of each adapted part; B has only the adapted rows of the weight.
/// If tensor ranks cut the weight by rows, they cut B in the same way and hold A whole; if they cut
/// the weight by columns, they cut A and hold B whole.
void add_adapter(Parameters& list, const LoraAdapters& adapters, const ModelParameter& weight) {
  const LoraAdaptableWeight* entry = find_adaptable_weight(weight.name);
  if (entry == nullptr) return;
  std::int64_t parts = 0;
  ModelParameter up = weight;
  up.fused = {};
  up.rows = 0;
  for (std::size_t i = 0; i < entry->parts.size(); ++i) {
    const auto target = lora_target_of_fused_part(*entry, weight, i);
    if (!target || !adapters.has(*target)) continue;
    const std::int64_t rows = weight.fused[0] > 0 ? weight.fused[i] : weight.rows;
    up.fused[static_cast<std::size_t>(parts++)] = rows;
    up.rows += rows;
  }
  if (parts == 0) return;
  if (parts == 1) up.fused = {};
  ModelParameter down = weight;
  down.fused = {};
  up.frozen = down.frozen = up.narrow = down.narrow = false;
  up.adapter = down.adapter = true;
  down.name = entry->down;
  down.rows = adapters.rank * (adapters.joined ? 1 : parts);
  down.start = ParameterInitialization::kNormal;
  up.name = entry->up;
  up.columns = adapters.rank;
  up.start = ParameterInitialization::kZeros;
  ModelParameter& whole = weight.split == TensorParallelSplit::kRow ? up : down;
  whole.partial = weight.split != TensorParallelSplit::kReplicated;
  whole.split = TensorParallelSplit::kReplicated;
  list.push_back(down);
  list.push_back(up);
}

void freeze(Parameters& list) {
  for (ModelParameter& parameter : list) parameter.frozen = true;
}

/// Marks the frozen parameters of a layer, and adds its adapters.
void add_training(Parameters& list, const ModelArchitecture& model, const LayerClass& layer) {
  if (!model.has_frozen_weights()) return;
  if (layer.frozen || model.adapters) freeze(list);
  if (!model.adapters) return;
  const std::size_t weights = list.size();
  for (std::size_t i = 0; i < weights; ++i) {
    const bool gate = list[i].name == "router.weight" || list[i].name == "shared.gate";
    list[i].narrow = model.adapters->quantised() && !list[i].vector && !gate;
  }
  if (layer.frozen) return;
  list.reserve(2 * weights);
  for (std::size_t i = 0; i < weights; ++i) add_adapter(list, *model.adapters, list[i]);
}

/// Counts the elements of a list; `active_experts`, if given, replaces the number of routed
/// experts.
std::int64_t elements(const Parameters& list, std::optional<std::int64_t> active_experts) {
  return std::accumulate(list.begin(), list.end(), std::int64_t{0},
                         [&](std::int64_t sum, const ModelParameter& parameter) {
                           if (!parameter.trained) return sum;
                           const bool cut = parameter.expert && active_experts;
                           return sum + (cut ? parameter.rows * parameter.columns * *active_experts
                                             : parameter.elements());
                         });
}

/// Adds up `of(list)` over the parameter lists of a model.
template <class Of>
std::int64_t sum_of_lists(const ModelArchitecture& model, Of of) {
  std::int64_t total = of(embedding_parameters(model)) + of(head_parameters(model));
  for (const auto& [layer, layers] : model.layer_counts_by_class()) {
    total += layers * of(layer_parameters(model, layer));
  }
  if (model.count_multi_token) {
    total += model.multi_token_layers * of(multi_token_module_parameters(model));
  }
  return total;
}

std::int64_t count(const ModelArchitecture& model, std::optional<std::int64_t> active_experts) {
  return sum_of_lists(model,
                      [&](const Parameters& list) { return elements(list, active_experts); });
}

}  // namespace

std::string bias_name(std::string_view weight) {
  if (weight == "head.weight") return "head.bias";
  return std::string(weight) + "_bias";
}

std::vector<ModelParameter> layer_parameters(const ModelArchitecture& model, LayerClass layer) {
  Parameters list;
  add_mixer(list, model, layer);
  add_feed_forward(list, model, layer);
  add_training(list, model, layer);
  return list;
}

std::vector<ModelParameter> embedding_parameters(const ModelArchitecture& model) {
  Parameters list = {
      matrix("embedding.word", model.vocabulary, model.hidden, TensorParallelSplit::kVocabulary)};
  if (model.position == PositionEncoding::kLearned) {
    list.push_back(matrix("embedding.position", model.positions, model.hidden,
                          TensorParallelSplit::kReplicated));
  }
  if (model.embedding_norm) add_norm(list, model, "embedding.norm", "embedding.norm_bias");
  if (model.adapters || model.frozen.embedding) freeze(list);
  return list;
}

std::vector<ModelParameter> encoder_parameters(const ModelArchitecture& model) {
  if (!model.encodes_images()) return {};
  const ImageEncoder& encoder = *model.encoder;
  Parameters list;
  std::int64_t rest = encoder.parameters;
  if (encoder.layers > 0) {
    const ModelArchitecture tower = encoder_tower_model(encoder);
    for (ModelParameter parameter : layer_parameters(tower, tower.layer_class(0))) {
      parameter.split = TensorParallelSplit::kReplicated;
      parameter.copies = encoder.layers;
      rest -= parameter.elements();
      list.push_back(parameter);
    }
  }
  list.push_back(matrix("encoder.patches", std::max<std::int64_t>(rest, 0), 1,
                        TensorParallelSplit::kReplicated));
  if (model.adapters || model.frozen.encoder) freeze(list);
  if (encoder.projector > 0) {
    list.push_back(
        matrix("encoder.projector", encoder.projector, 1, TensorParallelSplit::kReplicated));
    if (model.adapters || model.frozen.projector) list.back().frozen = true;
  }
  return list;
}

std::vector<ModelParameter> head_parameters(const ModelArchitecture& model) {
  Parameters list;
  add_norm(list, model, "norm.final", "norm.final_bias");
  if (!model.tied) {
    list.push_back(
        matrix("head.weight", model.vocabulary, model.hidden, TensorParallelSplit::kVocabulary));
  }
  if (model.head_bias)
    list.push_back(bias("head.bias", model.vocabulary, TensorParallelSplit::kVocabulary));
  if (model.adapters) freeze(list);
  return list;
}

std::vector<ModelParameter> multi_token_module_parameters(const ModelArchitecture& model) {
  Parameters list;
  add_norm(list, model, "multi_token.norm_embedding", "multi_token.norm_embedding_bias");
  add_norm(list, model, "multi_token.norm_hidden", "multi_token.norm_hidden_bias");
  list.push_back(matrix("multi_token.projection", model.hidden, 2 * model.hidden,
                        TensorParallelSplit::kColumn));
  for (ModelParameter& parameter : layer_parameters(model, model.layer_class(model.layers - 1))) {
    list.push_back(parameter);
  }
  add_norm(list, model, "multi_token.norm_final", "multi_token.norm_final_bias");
  return list;
}

std::int64_t count_parameters(const ModelArchitecture& model) { return count(model, std::nullopt); }

std::int64_t count_trained_parameters(const ModelArchitecture& model) {
  return sum_of_lists(model, [](Parameters list) {
    std::erase_if(list, [](const ModelParameter& parameter) { return parameter.frozen; });
    return elements(list, std::nullopt);
  });
}

std::int64_t count_active_parameters(const ModelArchitecture& model) {
  return count(model, model.experts ? model.experts->top_k : 0);
}

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  return (vocabulary + tensor - 1) / tensor * tensor;
}

}  // namespace stepwright::model
