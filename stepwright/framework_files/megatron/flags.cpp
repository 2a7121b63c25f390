#include "stepwright/framework_files/megatron/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/megatron/pattern.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright {
namespace {

/// The values that follow a flag of Megatron-LM.
enum class Arity : std::uint8_t {
  kNone,  ///< Nothing: the flag sets its field to `value`.
  kOne,
  kMany,  ///< All words up to the next flag.
};

/// A flag of Megatron-LM's command line and the field of its configuration that it sets.
struct MegatronFlag {
  std::string_view flag;
  std::string_view field;
  Arity arity = Arity::kOne;
  std::string_view value = "";  ///< What a flag without words sets.
  std::string_view from = "";   ///< The release of Megatron-Core that brought it; empty: the first.
  std::string_view before = "";  ///< The release that no longer has it; empty: it is there.
};

using enum Arity;

// Every flag that is written or read, in the order of writing. Of several for one field the first
// that a release has is written, all are read. NVIDIA/Megatron-LM megatron/training/arguments.py
// and CHANGELOG.md.
constexpr MegatronFlag kFlags[] = {
    {"--num-layers", "num_layers"},
    {"--hidden-size", "hidden_size"},
    {"--ffn-hidden-size", "ffn_hidden_size"},
    {"--num-attention-heads", "num_attention_heads"},
    {"--group-query-attention", "group_query_attention", kNone, "true"},
    {"--num-query-groups", "num_query_groups"},
    {"--kv-channels", "kv_channels"},
    {"--multi-latent-attention", "multi_latent_attention", kNone, "true", "0.10"},
    {"--q-lora-rank", "q_lora_rank", kOne, "", "0.10"},
    {"--kv-lora-rank", "kv_lora_rank", kOne, "", "0.10"},
    {"--qk-head-dim", "qk_head_dim", kOne, "", "0.10"},
    {"--qk-pos-emb-head-dim", "qk_pos_emb_head_dim", kOne, "", "0.10"},
    {"--v-head-dim", "v_head_dim", kOne, "", "0.10"},
    {"--qk-layernorm", "qk_layernorm", kNone, "true"},
    {"--window-size", "window_size", kOne, "", "0.14"},
    {"--normalization", "normalization"},
    {"--norm-epsilon", "norm_epsilon"},
    {"--swiglu", "activation", kNone, "swiglu"},
    {"--squared-relu", "activation", kNone, "squared_relu"},
    {"--no-bias-gelu-fusion", "activation", kNone, "gelu"},
    {"--disable-bias-linear", "add_bias_linear", kNone, "false"},
    {"--add-qkv-bias", "add_qkv_bias", kNone, "true"},
    {"--position-embedding-type", "position_embedding_type"},
    {"--use-rotary-position-embeddings", "position_embedding_type", kNone, "rope"},
    {"--rotary-base", "rotary_base"},
    {"--rotary-percent", "rotary_percent"},
    {"--rotary-seq-len-interpolation-factor", "seq_len_interpolation_factor"},
    {"--use-rope-scaling", "rope_scaling", kNone, "true", "0.9"},
    {"--rope-scaling-factor", "rope_scaling_factor", kOne, "", "0.9"},
    {"--rope-type", "rope_type", kOne, "", "0.10"},
    {"--rotary-scaling-factor", "rotary_scaling_factor", kOne, "", "0.10"},
    {"--untie-embeddings-and-output-weights", "share_embeddings_and_output_weights", kNone,
     "false"},
    {"--hidden-dropout", "hidden_dropout"},
    {"--attention-dropout", "attention_dropout"},
    {"--num-experts", "num_moe_experts"},
    {"--moe-router-topk", "moe_router_topk"},
    {"--moe-ffn-hidden-size", "moe_ffn_hidden_size", kOne, "", "0.10"},
    {"--moe-shared-expert-intermediate-size", "moe_shared_expert_intermediate_size", kOne, "",
     "0.9"},
    {"--moe-shared-expert-gate", "moe_shared_expert_gate", kNone, "true", "0.16"},
    {"--moe-router-score-function", "moe_router_score_function", kOne, "", "0.11"},
    {"--moe-router-enable-expert-bias", "moe_router_enable_expert_bias", kNone, "true", "0.11"},
    {"--moe-router-pre-softmax", "moe_router_pre_softmax", kNone, "true", "0.9"},
    {"--moe-grouped-gemm", "moe_grouped_gemm", kNone, "true"},
    {"--moe-layer-freq", "moe_layer_freq", kOne, "", "0.10"},
    {"--mtp-num-layers", "mtp_num_layers", kOne, "", "0.12"},
    {"--seq-length", "seq_length"},
    {"--max-position-embeddings", "max_position_embeddings"},
    {"--tokenizer-type", "tokenizer_type"},
    {"--vocab-size", "vocab_size"},
    {"--padded-vocab-size", "padded_vocab_size"},
    {"--make-vocab-size-divisible-by", "make_vocab_size_divisible_by"},
    {"--micro-batch-size", "micro_batch_size"},
    {"--global-batch-size", "global_batch_size"},
    {"--rampup-batch-size", "rampup_batch_size", kMany},
    {"--tensor-model-parallel-size", "tensor_model_parallel_size"},
    {"--sequence-parallel", "sequence_parallel", kNone, "true"},
    {"--pipeline-model-parallel-size", "pipeline_model_parallel_size"},
    {"--num-virtual-stages-per-pipeline-rank", "virtual_pipeline_model_parallel_size", kOne, "",
     "0.12"},
    {"--num-layers-per-virtual-pipeline-stage", "num_layers_per_virtual_pipeline_stage"},
    {"--pipeline-model-parallel-layout", "pipeline_model_parallel_layout", kOne, "", "0.13"},
    {"--decoder-first-pipeline-num-layers", "num_layers_in_first_pipeline_stage", kOne, "", "0.9"},
    {"--decoder-last-pipeline-num-layers", "num_layers_in_last_pipeline_stage", kOne, "", "0.9"},
    {"--account-for-embedding-in-pipeline-split", "account_for_embedding_in_pipeline_split", kNone,
     "true", "0.11"},
    {"--account-for-loss-in-pipeline-split", "account_for_loss_in_pipeline_split", kNone, "true",
     "0.11"},
    {"--no-overlap-p2p-communication", "overlap_p2p_comm", kNone, "false"},
    {"--context-parallel-size", "context_parallel_size"},
    {"--cp-comm-type", "cp_comm_type", kMany, "", "0.10"},
    {"--expert-model-parallel-size", "expert_model_parallel_size"},
    {"--expert-tensor-parallel-size", "expert_tensor_parallel_size", kOne, "", "0.10"},
    {"--moe-token-dispatcher-type", "moe_token_dispatcher_type"},
    {"--moe-flex-dispatcher-backend", "moe_flex_dispatcher_backend", kOne, "", "0.15"},
    {"--moe-enable-deepep", "moe_flex_dispatcher_backend", kNone, "deepep", "0.12"},
    {"--overlap-moe-expert-parallel-comm", "overlap_moe_expert_parallel_comm", kNone, "true",
     "0.14"},
    {"--use-tp-pp-dp-mapping", "use_tp_pp_dp_mapping", kNone, "true"},
    {"--tp-comm-overlap", "tp_comm_overlap", kNone, "true"},
    {"--use-distributed-optimizer", "use_distributed_optimizer", kNone, "true"},
    {"--num-distributed-optimizer-instances", "num_distributed_optimizer_instances", kOne, "",
     "0.11"},
    {"--use-megatron-fsdp", "use_megatron_fsdp", kNone, "true", "0.14"},
    {"--use-custom-fsdp", "use_megatron_fsdp", kNone, "true", "0.13"},
    {"--use-torch-fsdp2", "use_torch_fsdp2", kNone, "true", "0.10"},
    {"--torch-fsdp2-no-reshard-after-forward", "torch_fsdp2_reshard_after_forward", kNone, "false",
     "0.13"},
    {"--data-parallel-sharding-strategy", "data_parallel_sharding_strategy", kOne, "", "0.12"},
    {"--outer-dp-sharding-strategy", "outer_dp_sharding_strategy", kOne, "", "0.15"},
    {"--ckpt-format", "ckpt_format"},
    {"--overlap-grad-reduce", "overlap_grad_reduce", kNone, "true"},
    {"--overlap-param-gather", "overlap_param_gather", kNone, "true"},
    {"--ddp-bucket-size", "bucket_size"},
    {"--ddp-num-buckets", "num_buckets", kOne, "", "0.12"},
    {"--accumulate-allreduce-grads-in-fp32", "grad_reduce_in_fp32", kNone, "true"},
    {"--grad-reduce-in-bf16", "grad_reduce_in_fp32", kNone, "false", "0.11"},
    {"--recompute-granularity", "recompute_granularity"},
    {"--recompute-activations", "recompute_granularity", kNone, "selective"},
    {"--recompute-method", "recompute_method"},
    {"--recompute-num-layers", "recompute_num_layers"},
    {"--recompute-modules", "recompute_modules", kMany, "", "0.12"},
    {"--cpu-offloading-num-layers", "cpu_offloading_num_layers"},
    {"--fine-grained-activation-offloading", "fine_grained_activation_offloading", kNone, "true"},
    {"--optimizer-cpu-offload", "optimizer_cpu_offload", kNone, "true"},
    {"--bf16", "precision", kNone, "bf16"},
    {"--fp16", "precision", kNone, "fp16"},
    {"--fp8-format", "fp8"},
    {"--fp8-recipe", "fp8_recipe", kOne, "", "0.12"},
    {"--fp4-format", "fp4", kOne, "", "0.15"},
    {"--optimizer", "optimizer"},
    {"--sgd-momentum", "sgd_momentum"},
    {"--use-precision-aware-optimizer", "use_precision_aware_optimizer", kNone, "true", "0.11"},
    {"--exp-avg-dtype", "exp_avg_dtype", kOne, "", "0.11"},
    {"--exp-avg-sq-dtype", "exp_avg_sq_dtype", kOne, "", "0.11"},
    {"--attention-backend", "attention_backend", kOne, "", "0.11"},
    {"--use-flash-attn", "attention_backend", kNone, "flash"},
    {"--cross-entropy-loss-fusion", "cross_entropy_loss_fusion", kNone, "true"},
};

// Flags that change no figure of a plan, by what they begin with.
constexpr std::string_view kPassedFlags[] = {"--adam-",
                                             "--apply-",
                                             "--async-save",
                                             "--attention-softmax-in-fp32",
                                             "--auto-detect-",
                                             "--calculate-per-",
                                             "--check-",
                                             "--ckpt-",
                                             "--clip-grad",
                                             "--cross-entropy-",
                                             "--data-",
                                             "--dataloader-type",
                                             "--decoupled-",
                                             "--dist-ckpt-",
                                             "--distributed-",
                                             "--end-weight-decay",
                                             "--eod-mask-loss",
                                             "--eval-",
                                             "--exit-",
                                             "--finetune",
                                             "--fp8-amax-",
                                             "--fp8-margin",
                                             "--init-method",
                                             "--initial-loss-scale",
                                             "--load",
                                             "--log-",
                                             "--logging-",
                                             "--loss-scale",
                                             "--lr",
                                             "--manual-gc",
                                             "--merge-file",
                                             "--min-loss-scale",
                                             "--min-lr",
                                             "--mock-data",
                                             "--moe-aux-loss-",
                                             "--moe-router-load-balancing-type",
                                             "--moe-router-dtype",
                                             "--moe-z-loss-",
                                             "--no-create-attention-mask-in-dataloader",
                                             "--no-position-embedding",
                                             "--empty-unused-memory-level",
                                             "--no-load-",
                                             "--no-mmap-bin-files",
                                             "--no-save-",
                                             "--num-dataset-builder-threads",
                                             "--num-workers",
                                             "--override-opt_param-scheduler",
                                             "--per-split-data-args-path",
                                             "--profile",
                                             "--reset-",
                                             "--save",
                                             "--seed",
                                             "--split",
                                             "--start-weight-decay",
                                             "--tensorboard-",
                                             "--test-data-path",
                                             "--tiktoken-",
                                             "--timing-",
                                             "--tokenizer-",
                                             "--train-",
                                             "--transformer-impl",
                                             "--use-dist-ckpt",
                                             "--use-mcore-models",
                                             "--valid-data-path",
                                             "--vocab-file",
                                             "--wandb-",
                                             "--weight-decay",
                                             "--gradient-accumulation-fusion",
                                             "--rotary-interleaved",
                                             "--timeout",
                                             "--enable-experimental",
                                             "--te-rng-tracker",
                                             "--nccl-communicator-config-path",
                                             "--no-gradient-accumulation-fusion",
                                             "--sft",
                                             "--use-legacy-models",
                                             "--no-masked-softmax-fusion",
                                             "--no-rope-fusion",
                                             "--no-persist-layer-norm",
                                             "--bias-"};

const MegatronFlag* find_flag(std::string_view word) {
  const auto* found = std::ranges::find(kFlags, word, &MegatronFlag::flag);
  return found == std::end(kFlags) ? nullptr : found;
}

bool is_passed(std::string_view word) {
  return std::ranges::any_of(kPassedFlags,
                             [&](std::string_view head) { return word.starts_with(head); });
}

bool there_in(const MegatronFlag& flag, std::string_view release) {
  if (!flag.from.empty() && comes_before(release, flag.from)) return false;
  return flag.before.empty() || comes_before(release, flag.before);
}

std::string list_text(const Tree& list, std::string_view between) {
  std::vector<std::string> words;
  for (const Tree& item : list.items) words.push_back(item.text);
  return fmt::format("{}", fmt::join(words, between));
}

std::string quoted(const std::string& text) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:+/=";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  return "'" + text + "'";
}

std::string value_text(const MegatronFlag& flag, const Tree& value) {
  if (value.kind != Tree::Kind::kSequence) return quoted(value.text);
  return flag.field == "moe_layer_freq" ? "'" + pattern_text(value) + "'" : list_text(value, " ");
}

Tree placed(Tree tree, std::uint32_t line) {
  tree.line = line;
  tree.column = 1;
  return tree;
}

Tree word_tree(const ShellWord& word) {
  if (word.text.find('[') != std::string::npos) {
    if (const auto list = read_pattern(word.text)) {
      Tree tree = Tree::flow_sequence();
      for (const std::string& item : *list) tree.add(placed(Tree::scalar(item, false), word.line));
      return placed(tree, word.line);
    }
  }
  return placed(Tree::scalar(word.text, false), word.line);
}

/// Sets a field once; a second value must be the same.
class FieldsOfFlags {
 public:
  explicit FieldsOfFlags(const std::string& name) : name_(name) {}

  void set(const MegatronFlag& flag, std::uint32_t line, const Tree& value) {
    std::string text = value.text;
    if (value.kind == Tree::Kind::kSequence) text = list_text(value, " ");
    const auto [known, fresh] =
        said_.try_emplace(std::string(flag.field), Said{text, flag.flag, line});
    if (!fresh && known->second.text != text) {
      fail_input(fmt::format("{}:{}: {} says {} {}, {} in line {} says {}", name_, line, flag.flag,
                             flag.field, printable(text), known->second.flag, known->second.line,
                             printable(known->second.text)));
    }
    arguments_.fields.set(flag.field, value);
  }
  MegatronArguments take() {
    for (const auto& [field, said] : said_) arguments_.flags.emplace(field, said.flag);
    return std::move(arguments_);
  }

 private:
  struct Said {
    std::string text;
    std::string_view flag;
    std::uint32_t line;
  };
  const std::string& name_;
  std::map<std::string, Said> said_;
  MegatronArguments arguments_;
};

bool is_flag(const ShellWord& word) { return word.text.starts_with("--"); }

}  // namespace

std::vector<std::string> flag_texts(const Tree& fields, std::string_view release) {
  std::vector<std::string> texts;
  std::vector<std::string_view> written;
  for (const MegatronFlag& flag : kFlags) {
    const Tree* value = fields.find(flag.field);
    if (value == nullptr || !there_in(flag, release)) continue;
    if (flag.arity == Arity::kNone && value->text != flag.value) continue;
    if (std::ranges::find(written, flag.field) != written.end()) continue;
    written.push_back(flag.field);
    texts.push_back(flag.arity == Arity::kNone
                        ? std::string(flag.flag)
                        : fmt::format("{} {}", flag.flag, value_text(flag, *value)));
  }
  return texts;
}

bool is_megatron_flag(std::string_view word) {
  return find_flag(word) != nullptr || (word.starts_with("--") && is_passed(word));
}

namespace {

/// The words behind a flag, up to the next.
std::string values_behind(std::span<const ShellWord> words) {
  std::vector<std::string_view> values;
  for (const ShellWord& word : words) {
    if (is_flag(word)) break;
    values.push_back(word.text);
  }
  return printable(fmt::format("{}", fmt::join(values, " ")));
}

UnreadSetting unread_flag(const ShellWord& word, std::string value, const std::string& name) {
  UnreadSetting unread{printable(word.text), std::move(value), name, word.line, Matters::kNo, ""};
  if (is_passed(word.text)) return unread;
  std::vector<std::string_view> known;
  for (const MegatronFlag& flag : kFlags) known.push_back(flag.flag);
  unread.matters = Matters::kMaybe;
  if (const auto near = nearest(word.text, known))
    unread.why = fmt::format("did you mean {}?", *near);
  return unread;
}

}  // namespace

MegatronArguments read_flags(std::span<const ShellWord> words, const std::string& name,
                             ImportReport& report) {
  FieldsOfFlags fields(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_flag(words[i])) continue;
    ShellWord word = words[i];
    const std::size_t equals = word.text.find('=');
    std::optional<ShellWord> inlined;
    if (equals != std::string::npos) {
      inlined = ShellWord{word.text.substr(equals + 1), word.line};
      word.text.resize(equals);
    }
    const MegatronFlag* flag = find_flag(word.text);
    if (flag == nullptr) {
      report.not_read.push_back(unread_flag(
          word, inlined ? printable(inlined->text) : values_behind(words.subspan(i + 1)), name));
      continue;
    }
    if (flag->arity == Arity::kNone) {
      fields.set(*flag, word.line,
                 placed(Tree::scalar(std::string(flag->value), false), word.line));
      continue;
    }
    const bool follows = i + 1 < words.size() && !is_flag(words[i + 1]);
    if (!inlined && !follows) {
      fail_input(fmt::format("{}:{}: {} needs a value", name, word.line, word.text));
    }
    if (inlined || flag->arity == Arity::kOne) {
      fields.set(*flag, word.line, word_tree(inlined ? *inlined : words[++i]));
      continue;
    }
    Tree list = placed(Tree::flow_sequence(), word.line);
    while (i + 1 < words.size() && !is_flag(words[i + 1])) list.add(word_tree(words[++i]));
    fields.set(*flag, word.line, list);
  }
  return fields.take();
}

}  // namespace stepwright
