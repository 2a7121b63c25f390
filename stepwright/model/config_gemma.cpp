// Readers of Gemma: norms multiply by 1 + weight, embeddings are scaled, GELU is gated.
#include <cmath>

#include "stepwright/model/config_blocks.h"
#include "stepwright/model/config_families.h"
#include "stepwright/model/config_layers.h"

namespace stepwright::model {
namespace {

ModelArchitecture read_gemma(const ConfigJsonReader& fields, std::int64_t kv_heads,
                             std::int64_t positions) {
  ModelArchitecture model =
      read_llama_like_model(fields, {.positions = positions,
                                     .kv_heads = kv_heads,
                                     .head_dim = 256,
                                     .tied = true,
                                     .activation = ActivationFunction::kGeluTanh});
  model.norm_unit_offset = true;
  model.embedding_scale = std::sqrt(static_cast<double>(model.hidden));
  read_attention_biases(fields, model);
  if (fields.flag("use_bidirectional_attention", false)) {
    add_uncounted_model_part("attention to later tokens",
                             model);  // Prefixes of PaliGemma attend so.
  }
  return model;
}

/// Reads the scale of scores, one over the root of `query_pre_attn_scalar`, and the caps of scores
/// and logits; a null cap means no cap.
void add_caps(const ConfigJsonReader& fields, double attention, double logits,
              ModelArchitecture& model) {
  const double scalar = fields.read_number_or("query_pre_attn_scalar", 256, 1e-6, 1e6);
  if (scalar != static_cast<double>(model.head_dim)) model.attention_scale = 1 / std::sqrt(scalar);
  model.attention_cap = fields.read_logit_soft_cap("attn_logit_softcapping", attention);
  model.logit_cap = fields.read_logit_soft_cap("final_logit_softcapping", logits);
}

bool slides_on_even(std::int64_t layer) { return layer % 2 == 0; }

/// Reads Gemma 1, whose first files say `gelu` but mean its tanh approximation.
ModelArchitecture read_gemma1(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_gemma(fields, 16, 8192);
  if (model.activation == ActivationFunction::kGelu)
    model.activation = ActivationFunction::kGeluTanh;
  return model;
}

/// Reads a Gemma whose activation has the key `hidden_activation`; `hidden_act` has no effect.
ModelArchitecture read_capped_gemma(const ConfigJsonReader& fields, std::int64_t positions) {
  ModelArchitecture model = read_gemma(fields, 4, positions);
  model.activation =
      fields.read_activation_function("hidden_activation", ActivationFunction::kGeluTanh);
  return model;
}

ModelArchitecture read_vaultgemma(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_capped_gemma(fields, 8192);
  add_caps(fields, 50, 30, model);
  read_attention_windows(fields, slides_on_even, 4096, model);
  return model;
}

ModelArchitecture read_gemma2(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_vaultgemma(fields);
  model.norm_placement = NormPlacement::kBoth;
  return model;
}

ModelArchitecture read_gemma3(const ConfigJsonReader& fields) {
  ModelArchitecture model = read_capped_gemma(fields, 131072);
  fields.refuse_model_if_flag_is_true("use_bidirectional_attention", "attention to later tokens");
  add_caps(fields, 0, 0, model);
  model.norm_placement = NormPlacement::kBoth;
  model.qk_norm = QkNorm::kHead;
  const std::int64_t every = fields.size_or_default(
      fields.value("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern",
      6);
  read_attention_windows(fields, all_layers_but_every_nth(every), 4096, model);
  // The first files lack the rotary bases, which then have the defaults of the class.
  if (!fields.value("rope_theta") && !fields.value("rope_parameters")) {
    model.window_rotary_base = fields.read_number_or("rope_local_base_freq", 1e4, 0, 1e12);
  }
  return model;
}

const ModelConfigFamily kGemmaFamilies[] = {
    {"gemma", read_gemma1, usual_model_config_keys()},
    {"gemma2", read_gemma2, usual_model_config_keys()},
    {"gemma3_text", read_gemma3, usual_model_config_keys(), 1e6},
    {"vaultgemma", read_vaultgemma, usual_model_config_keys()},
};

}  // namespace

std::span<const ModelConfigFamily> gemma_model_families() { return kGemmaFamilies; }

}  // namespace stepwright::model
