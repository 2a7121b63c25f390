#include "stepwright/framework_files/megatron/experts.h"

#include "stepwright/framework_files/megatron/layer_lists.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::framework_files {
namespace {

/// Returns 1 for each layer without experts, from a list of 0 and 1 or from a period, whose first
/// layer has experts.
std::vector<std::uint8_t> dense_layers(DocumentNode node, std::int64_t layers) {
  if (!node.is_scalar()) return flags_of_zero_entries(node, layers);
  std::vector<std::uint8_t> dense(static_cast<std::size_t>(layers), 1);
  const auto period = static_cast<std::size_t>(node.integer(1, model::kMaxModelLayers));
  for (std::size_t i = 0; i < dense.size(); i += period) dense[i] = 0;
  return dense;
}

/// Adds the router. A correction bias implies sigmoid scores
/// (megatron/core/transformer/moe/moe_utils.py).
void add_router(DocumentTree& fields, const model::MixtureOfExperts& experts) {
  fields.set("moe_router_topk", experts.top_k);
  if (experts.correction_bias || experts.scoring == model::RouterScoring::kSigmoid) {
    fields.set("moe_router_score_function", "sigmoid");
    if (experts.correction_bias) fields.set("moe_router_enable_expert_bias", true);
  } else if (!experts.normalize_top_k) {
    fields.set("moe_router_pre_softmax", true);
  }
  if (experts.groups > 1) {
    fields.set("moe_router_num_groups", experts.groups);
    fields.set("moe_router_group_topk", experts.top_groups);
  }
  if (experts.scale != 1) fields.set("moe_router_topk_scaling_factor", experts.scale);
}

void read_router(const FrameworkSettingsReader& fields, model::MixtureOfExperts& experts) {
  experts.top_k = fields.integer("moe_router_topk", 2);
  experts.correction_bias = fields.flag("moe_router_enable_expert_bias", false);
  const bool sigmoid = fields.word("moe_router_score_function", "softmax") == "sigmoid";
  if (sigmoid || experts.correction_bias) experts.scoring = model::RouterScoring::kSigmoid;
  experts.normalize_top_k = sigmoid || !fields.flag("moe_router_pre_softmax", false);
  experts.groups = fields.integer("moe_router_num_groups", 1);
  experts.top_groups = fields.integer("moe_router_group_topk", experts.groups);
  experts.scale = fields.number("moe_router_topk_scaling_factor", 1);
}

}  // namespace

void add_megatron_expert_fields(DocumentTree& fields, const model::ModelArchitecture& model) {
  if (!model.experts) return;
  const model::MixtureOfExperts& experts = *model.experts;
  fields.set("num_moe_experts", experts.count);
  fields.set("moe_ffn_hidden_size", experts.ffn);
  if (experts.shared_ffn > 0) fields.set("moe_shared_expert_intermediate_size", experts.shared_ffn);
  if (experts.latent > 0) fields.set("moe_latent_size", experts.latent);
  if (experts.shared_gate) fields.set("moe_shared_expert_gate", true);
  add_router(fields, experts);
  fields.set("moe_grouped_gemm", true);
}

void add_megatron_expert_layers(DocumentTree& fields, const model::ModelArchitecture& model) {
  std::vector<std::uint8_t> marks;
  for (const model::LayerClass& layer : model::model_layer_classes(model))
    marks.push_back(layer.has_experts() ? 1 : 0);
  const bool some = model::model_has_feed_forward_kind(model, model::FeedForward::kDense);
  if (model.experts && some) fields.set("moe_layer_freq", layer_flags_python_list(marks));
}

void read_expert_fields(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  if (!fields.has("num_moe_experts")) return;
  model::MixtureOfExperts experts;
  experts.count = fields.integer("num_moe_experts", 0);
  experts.ffn = fields.integer("moe_ffn_hidden_size", model.ffn);
  experts.shared_ffn = fields.integer("moe_shared_expert_intermediate_size", 0);
  experts.latent = fields.integer("moe_latent_size", 0);
  experts.shared_gate = fields.flag("moe_shared_expert_gate", false);
  read_router(fields, experts);
  experts.bias = model.mlp_bias;
  // The router has a bias if linear layers have one, but not together with a correction bias here.
  experts.router_bias = model.mlp_bias && !experts.correction_bias;
  model.experts = experts;
}

void read_expert_layers(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  const auto pattern = fields.find("moe_layer_freq");
  if (model.experts && pattern)
    model::assign_dense_mlp_layers(model, dense_layers(*pattern, model.layers));
}

}  // namespace stepwright::framework_files
