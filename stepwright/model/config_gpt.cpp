// Decoders like GPT-2: LayerNorm, plain MLPs, biases.
#include <fmt/format.h>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"

namespace stepwright {
namespace {

constexpr FieldName kGpt2Names[] = {{"layers", "n_layer"},       {"hidden", "n_embd"},
                                    {"heads", "n_head"},         {"kv_heads", "n_head"},
                                    {"ffn", "n_inner"},          {"vocab", "vocab_size"},
                                    {"positions", "n_positions"}};

/// The blocks that GPT-2 and GPT-NeoX share.
Architecture gpt_blocks() {
  Architecture model;
  model.gated = false;
  model.norm = Norm::kLayer;
  model.norm_bias = true;
  model.qkv_bias = model.attention_output_bias = model.mlp_bias = true;
  return model;
}

Architecture read_gpt2(const ConfigFields& fields) {
  fields.refuse("add_cross_attention", "cross attention");
  if (!fields.flag("scale_attn_weights", true)) {
    fields.value("scale_attn_weights")->fail_unsupported("attention scores that are not scaled");
  }
  fields.refuse("scale_attn_by_inverse_layer_idx", "attention scaled by the layer's number");
  Architecture model = gpt_blocks();
  model.layers = fields.size({"n_layer", "num_hidden_layers"}, kLargestLayers);
  model.hidden = fields.size({"n_embd", "hidden_size"});
  model.heads = model.kv_heads = fields.size({"n_head", "num_attention_heads"});
  if (model.hidden % model.heads != 0) {
    fields.fail(
        fmt::format("n_embd ({}) is not a multiple of n_head ({})", model.hidden, model.heads));
  }
  model.head_dim = model.hidden / model.heads;
  model.ffn = fields.size_or("n_inner", 4 * model.hidden);
  model.vocabulary = fields.size({"vocab_size"});
  model.positions = fields.size({"n_positions", "max_position_embeddings"});
  model.position = Position::kLearned;
  model.activation = fields.activation("activation_function", Activation::kGeluTanh);
  model.norm_epsilon = fields.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  model.tied = fields.tied(true);
  return model;
}

Architecture read_gpt_neox(const ConfigFields& fields) {
  const Architecture sizes = read_common(fields, {.positions = 2048});
  Architecture model = gpt_blocks();
  model.layers = sizes.layers;
  model.hidden = sizes.hidden;
  model.heads = model.kv_heads = sizes.heads;
  model.head_dim = head_dim(fields, sizes);
  model.ffn = sizes.ffn;
  model.vocabulary = sizes.vocabulary;
  model.positions = sizes.positions;
  model.activation = fields.activation("hidden_act", Activation::kGelu);
  model.norm_epsilon = fields.number_or("layer_norm_eps", 1e-5, 0, 1);
  model.rotary_fraction = fields.rotary_fraction(0.25);
  model.parallel_residual = fields.flag("use_parallel_residual", true);
  model.qkv_bias = model.attention_output_bias = fields.flag("attention_bias", true);
  model.tied = sizes.tied;
  return model;
}

const ConfigFamily kGptFamilies[] = {
    {"gpt2", read_gpt2, kGpt2Names},
    {"gpt_neox", read_gpt_neox, usual_names()},
};

}  // namespace

std::span<const ConfigFamily> gpt_families() { return kGptFamilies; }

}  // namespace stepwright
