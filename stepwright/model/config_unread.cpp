#include "stepwright/model/config_unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::model {
namespace {

// What configuration classes of transformers 4 and 5, and published files, hold beside the shape of
// a decoder.

/// In keys: initialisation, dropout, losses of routers and noise in them, tokens of a tokenizer,
/// heads that classify, what a forward gives back.
constexpr std::string_view kWithin[] = {
    "initializer", "init_",  "_init",    "dropout",     "pdrop",    "layerdrop",  "aux_loss",
    "z_loss",      "jitter", "token_id", "token_index", "summary_", "classifier", "output_"};
constexpr std::string_view kOfFiles[] = {"_name_or_path",
                                         "_commit_hash",
                                         "architectures",
                                         "auto_map",
                                         "dtype",
                                         "id2label",
                                         "label2id",
                                         "model_type",
                                         "name_or_path",
                                         "prefix",
                                         "problem_type",
                                         "quantization_config",
                                         "task_specific_params",
                                         "tokenizer_class",
                                         "torch_dtype",
                                         "transformers_version",
                                         "unsloth_fixed",
                                         "unsloth_version"};
constexpr std::string_view kOfRuns[] = {"_attn_implementation",
                                        "attn_implementation",
                                        "cache_implementation",
                                        "chunk_size_feed_forward",
                                        "do_sample",
                                        "ep_size",
                                        "gradient_checkpointing",
                                        "is_decoder",
                                        "is_encoder_decoder",
                                        "logits_to_keep",
                                        "n_ctx",
                                        "num_logits_to_keep",
                                        "pretraining_tp",
                                        "return_dict",
                                        "temperature",
                                        "tie_encoder_decoder",
                                        "top_p",
                                        "torchscript",
                                        "use_bfloat16",
                                        "use_cache",
                                        "verbose"};
/// Keys of kernels and of the type in which they sum.
constexpr std::string_view kOfKernels[] = {"attention_softmax_in_fp32",
                                           "bias_dropout_fusion",
                                           "enable_moe_fp32_combine",
                                           "mamba_ssm_cache_dtype",
                                           "masked_softmax_fusion",
                                           "reorder_and_upcast_attn",
                                           "residual_in_fp32",
                                           "scale_attention_softmax_in_fp32",
                                           "skip_bias_add",
                                           "skip_bias_add_qkv",
                                           "slow_but_exact",
                                           "use_associative_scan",
                                           "use_fused_swiglu",
                                           "use_mamba_kernels",
                                           "use_mambapy"};
constexpr std::string_view kOfTraining[] = {"linear_a_log_max",
                                            "linear_a_log_min",
                                            "linear_dt_max",
                                            "linear_dt_min",
                                            "rescale_prenorm_residual",
                                            "seq_aux",
                                            "time_step_floor",
                                            "time_step_max",
                                            "time_step_min",
                                            "time_step_scale"};

/// A part of a decoder that a key gives some types.
struct Part {
  std::string_view key;
  double off;  ///< The largest value that means: without it.
  bool (*has)(const Architecture& model);
  std::string_view what;
};

bool has_experts(const Architecture& model) { return model.experts.has_value(); }
bool has_latent(const Architecture& model) { return model.latent.has_value(); }
bool has_indexer(const Architecture& model) {
  return model.latent && model.latent->index_heads > 0;
}
bool has_state(const Architecture& model) { return model.state_mixer.has_value(); }
bool has_query_norms(const Architecture& model) { return model.qk_norm != QkNorm::kNone; }
bool has_alibi(const Architecture& model) { return model.position == Position::kAlibi; }
bool is_parallel(const Architecture& model) { return model.parallel_residual; }

constexpr Part kParts[] = {
    {"num_local_experts", 1, has_experts, "experts"},
    {"num_experts", 1, has_experts, "experts"},
    {"n_routed_experts", 1, has_experts, "experts"},
    {"moe_num_experts", 1, has_experts, "experts"},
    {"kv_lora_rank", 0, has_latent, "latent attention"},
    {"index_topk", 0, has_indexer, "indexer"},
    {"linear_num_value_heads", 0, has_state, "layers with a state"},
    {"mamba_d_state", 0, has_state, "layers with a state"},
    {"ssm_state_size", 0, has_state, "layers with a state"},
    {"qk_norm", 0, has_query_norms, "norms of queries and keys"},
    {"use_qk_norm", 0, has_query_norms, "norms of queries and keys"},
    {"alibi", 0, has_alibi, "biases of scores by distance"},
    {"use_parallel_residual", 0, is_parallel, "parallel branches"},
};

/// Null, false, 0, nothing in it: no word for what a decoder has.
bool says_nothing(Node node) {
  if (node.is_null()) return true;
  if (!node.is_scalar()) return node.size() == 0;
  const std::string text = node.text();
  return text.empty() || text == "false" || (node.is_number() && node.number() == 0);
}

bool shapes_no_decoder(std::string_view key) {
  const auto has = [&](std::string_view part) { return key.find(part) != key.npos; };
  const std::span<const std::string_view> listed[] = {kOfFiles, kOfRuns, kOfKernels, kOfTraining};
  return std::ranges::any_of(kWithin, has) || std::ranges::any_of(listed, [&](const auto& keys) {
           return std::ranges::find(keys, key) != keys.end();
         });
}

void refuse_part(std::string_view key, Node node, std::string_view model_type,
                 const Architecture& model) {
  for (const Part& part : kParts) {
    if (part.key != key || !node.is_scalar() || part.has(model)) continue;
    const bool on = node.is_number() ? node.number() > part.off : node.text() == "true";
    if (!on) continue;
    node.fail_unsupported(fmt::format("'{}' of transformers has no {}: it would pass this over",
                                      model_type, part.what));
  }
}

void refuse_misspelt(std::string_view key, Node node, std::span<const std::string> missing) {
  constexpr std::size_t kFewest = 8;  // letters: shorter words are near to each other by chance
  constexpr std::size_t kMostEdits = 2;
  if (key.size() < kFewest) return;
  for (const std::string& absent : missing) {
    if (absent.size() < kFewest || edit_distance(key, absent) > kMostEdits) continue;
    node.fail(fmt::format("no such key; did you mean '{}'?", absent));
  }
}

}  // namespace

std::optional<std::string> own_code(Node config) {
  const auto code = config.find("auto_map");
  if (!code || !code->is_mapping() || code->size() == 0) return std::nullopt;
  const auto [name, place] = code->members().front();
  return printable(place.is_scalar() ? place.text() : name);
}

void note_unread(const ConfigFields& fields, std::string_view model_type, Node config,
                 const Architecture& model, std::vector<std::string>& notes) {
  constexpr std::size_t kMostNamed = 20;
  const std::vector<std::string> missing = fields.absent();
  std::string unread;
  std::size_t count = 0;
  for (const auto& [key, node] : fields.unread()) {
    if (shapes_no_decoder(key) || says_nothing(node)) continue;
    refuse_part(key, node, model_type, model);
    refuse_misspelt(key, node, missing);
    if (++count <= kMostNamed) unread += (unread.empty() ? "" : ", ") + printable(key);
  }
  if (count > kMostNamed) unread += fmt::format(" and {} more", count - kMostNamed);
  if (!unread.empty()) {
    notes.push_back(fmt::format("{}: keys that the reader of '{}' does not use: {}.",
                                printable(config.file(), 1000), model_type, unread));
  }
  if (const auto code = own_code(config)) {
    notes.push_back(fmt::format(
        "{}: its own code (auto_map: {}) is never run; read as the '{}' of transformers.",
        printable(config.file(), 1000), *code, model_type));
  }
}

}  // namespace stepwright::model
