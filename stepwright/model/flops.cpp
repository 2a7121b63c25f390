#include "stepwright/model/flops.h"

#include <algorithm>

#include "stepwright/model/parameters.h"
#include "stepwright/model/state_mixer.h"

namespace stepwright::model {
namespace {

/// Returns the FLOPs of one token through the matrices of a list; a token uses `top_k` routed
/// experts.
double matrix_flops(const std::vector<ModelParameter>& list, const ModelArchitecture& model) {
  double flops = 0;
  for (const ModelParameter& parameter : list) {
    if (parameter.vector) continue;
    const std::int64_t met = parameter.expert ? model.experts->top_k : 1;
    flops += 2.0 * static_cast<double>(parameter.rows) * static_cast<double>(parameter.columns) *
             static_cast<double>(met);
  }
  return flops;
}

/// Returns the FLOPs in which an indexer scores all keys for one token and weighs its heads.
double index_flops(const ModelArchitecture& model, std::int64_t length) {
  if (!model.has_sparse_attention_indexer()) return 0;
  return 2.0 * static_cast<double>(length) * static_cast<double>(model.latent->index_heads) *
         static_cast<double>(model.latent->index_head_dim + 1);
}

/// Returns how many keys a token attends to, without the causal mask.
std::int64_t seen_keys(const ModelArchitecture& model, const LayerClass& layer,
                       std::int64_t length) {
  const std::int64_t reach =
      model.has_sparse_attention_indexer() ? std::min(model.latent->index_top_k, length) : length;
  return layer.window > 0 ? std::min(layer.window, reach) : reach;
}

/// Returns the FLOPs of one token's attention to one key.
double flops_of_key(const ModelArchitecture& model) {
  return 2.0 * static_cast<double>(model.heads) *
         static_cast<double>(model.head_dim + model.value_head_elements());
}

/// Returns the forward FLOPs per token that the causal mask removes from attention, the mean over a
/// sequence.
double masked_flops(const ModelArchitecture& model, const LayerClass& layer, std::int64_t length) {
  if (!layer.attends()) return 0;
  const auto keys = static_cast<double>(seen_keys(model, layer, length));
  return keys * (keys - 1) / (2.0 * static_cast<double>(length)) * flops_of_key(model);
}

/// Returns the FLOPs of one token in a layer's mixer, without its matrices.
double mixer_flops(const ModelArchitecture& model, LayerClass layer, std::int64_t length) {
  double flops = 0;
  if (layer.recurrent_mixer_kind() != TokenMixer::kNone) {
    flops = convolution_flops_per_token(*model.state_mixer, layer.recurrent_mixer_kind()) +
            recurrent_scan_flops_per_token(*model.state_mixer, layer.recurrent_mixer_kind());
  }
  if (!layer.attends()) return flops;
  return flops + index_flops(model, length) +
         static_cast<double>(seen_keys(model, layer, length)) * flops_of_key(model);
}

double head_flops(const ModelArchitecture& model) {
  return 2.0 * static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
}

}  // namespace

double forward_flops_per_token(const ModelArchitecture& model, std::int64_t length) {
  double flops = head_flops(model);
  for (const auto& [layer, layers] : model.layer_counts_by_class()) {
    flops += static_cast<double>(layers) * (matrix_flops(layer_parameters(model, layer), model) +
                                            mixer_flops(model, layer, length));
  }
  if (model.count_multi_token) {
    const LayerClass layer = model.layer_class(model.layers - 1);
    flops += static_cast<double>(model.multi_token_layers) *
             (matrix_flops(multi_token_module_parameters(model), model) +
              mixer_flops(model, layer, length) + head_flops(model));
  }
  return flops;
}

namespace {

/// Returns the forward and backward FLOPs of one token through a model with frozen weights.
double partly_trained_flops(const ModelArchitecture& model, std::int64_t length) {
  const bool frozen_table = model.adapters || (model.tied && model.frozen.embedding);
  double flops = (frozen_table ? 2 : 3) * head_flops(model);
  for (const auto& [layer, layers] : model.layer_counts_by_class()) {
    std::vector<ModelParameter> list = layer_parameters(model, layer);
    const int backward = layer.gradients == LayerGradientFlow::kAbove ? 0 : 1;
    double each = (1 + backward) * matrix_flops(list, model) +
                  (1 + 2 * backward) * mixer_flops(model, layer, length);
    std::erase_if(list, [](const ModelParameter& parameter) { return parameter.frozen; });
    each += backward * matrix_flops(list, model);
    flops += static_cast<double>(layers) * each;
  }
  return flops;
}

}  // namespace

double training_flops_per_token(const ModelArchitecture& model, std::int64_t length) {
  if (model.has_frozen_weights()) return partly_trained_flops(model, length);
  return 3 * forward_flops_per_token(model, length);
}

double flops_saved_by_causal_mask(const ModelArchitecture& model, std::int64_t length) {
  double flops = 0;
  for (const auto& [layer, layers] : model.layer_counts_by_class()) {
    const int passes = layer.gradients == LayerGradientFlow::kAbove ? 1 : 3;
    flops += static_cast<double>(passes * layers) * masked_flops(model, layer, length);
  }
  if (model.count_multi_token) {
    const LayerClass layer = model.layer_class(model.layers - 1);
    flops += static_cast<double>(3 * model.multi_token_layers) * masked_flops(model, layer, length);
  }
  return flops;
}

}  // namespace stepwright::model
