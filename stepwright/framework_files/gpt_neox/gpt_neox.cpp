#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/launchers/configured.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// Vocabulary size of a tokenizer that comes with GPT-NeoX (megatron/tokenizer).
struct Vocabulary {
  std::string_view tokenizer;
  std::int64_t tokens;
};
constexpr Vocabulary kVocabularies[] = {{"GPT2BPETokenizer", 50257}, {"HFTokenizer", 50277}};

/// Merges all files into one mapping, whose keys have underscores.
DocumentTree with_underscores(Sources files) {
  TreeMappingBuilder all;
  for (const SourceFile& file : files) {
    // Comments and trailing commas make the text YAML, even if it begins with a brace.
    const std::size_t first = std::min(file.text.find_first_not_of(" \t\r\n"), file.text.size());
    const bool brace = first < file.text.size() && file.text[first] == '{';
    const YamlJsonDocument document =
        parse_like_python_yaml(brace ? fmt::format("--- {}", file.text) : file.text, file.name);
    for (const auto& [key, value] : document.root().mapping_members()) {
      std::string name = key;
      std::ranges::replace(name, '-', '_');
      if (all.find(name) != nullptr) value.fail("is said twice");
      all.set(name, copy_tree_with_file_positions(value));
    }
  }
  return all.finished_mapping();
}

/// Returns the padded vocabulary; nullopt if no setting states the vocabulary.
std::optional<std::int64_t> vocabulary_of(const FrameworkSettingsReader& fields,
                                          std::int64_t tensor) {
  if (const auto padded = fields.size("padded_vocab_size")) return padded;
  std::optional<std::int64_t> tokens = fields.size("vocab_size");
  const auto* known = std::ranges::find(
      kVocabularies, fields.word("tokenizer_type", "GPT2BPETokenizer"), &Vocabulary::tokenizer);
  if (!tokens && known != std::end(kVocabularies)) tokens = known->tokens;
  if (!tokens) return std::nullopt;
  const std::int64_t multiple = fields.integer("make_vocab_size_divisible_by", 128) * tensor;
  return (*tokens + multiple - 1) / multiple * multiple;
}

void read_neox_mlp(const FrameworkSettingsReader& fields, model::ModelArchitecture& model) {
  static constexpr Named<model::ActivationFunction> kActivations[] = {
      {model::ActivationFunction::kGeluTanh, "gelu"},
      {model::ActivationFunction::kSilu, "swiglu"},
      {model::ActivationFunction::kSilu, "silu"},
      {model::ActivationFunction::kRelu, "relu"},
      {model::ActivationFunction::kGelu, "geglu"}};
  model.activation =
      fields.choice("activation", kActivations, model::ActivationFunction::kGeluTanh);
  const std::string word = fields.word("activation", "gelu");
  const bool llama = fields.word("mlp_type", "regular") == "llama";
  model.gated = word == "swiglu" || word == "geglu" || llama;
  // ParallelMLP (megatron/model/transformer.py) takes the width as that of an MLP without a gate:
  // two thirds of it are both halves of the first product (configs/llama2/13B.yml has 41472 for
  // 13824). LLaMAParallelMLP of 2023 takes the width unchanged.
  const auto said = fields.find("intermediate_size");
  std::int64_t width =
      said && !said->is_null() ? said->integer(1, kMaxIntegerSetting) : 4 * model.hidden;
  if (model.gated && !llama) width = width * 2 / 3 / 2;
  if (llama && !said) width = model.hidden * 8 / 3;
  const std::int64_t multiple = fields.integer("mlp_multiple_of", llama ? 256 : 1);
  model.ffn = model.gated ? (width + multiple - 1) / multiple * multiple : width;
  model.mlp_bias = fields.flag("use_bias_in_mlp", !model.gated);
}

/// Returns the number of ranks among which a batch is divided, if a file states all three of its
/// sizes, which DeepSpeed requires to agree; else nullopt. megatron/neox_arguments/arguments.py:
/// calculate_batch_parameters.
std::optional<std::int64_t> ranks_of_batch(const FrameworkSettingsReader& fields,
                                           const plan::ParallelismDegrees& degrees) {
  const auto size = [&](std::string_view key) -> std::optional<std::int64_t> {
    const auto value = fields.node().find(key);
    if (!value || value->is_null()) return std::nullopt;
    return value->integer(1, kMaxIntegerSetting);
  };
  const auto all = size("train_batch_size");
  const auto micro = size("train_micro_batch_size_per_gpu");
  const auto steps = size("gradient_accumulation_steps");
  if (!all || !micro || !steps || *all % *micro != 0 || *all / *micro % *steps != 0) return {};
  std::int64_t ranks = *all / *micro / *steps;
  for (const std::int64_t more : {degrees.tensor, degrees.pipeline, degrees.context}) {
    if (__builtin_mul_overflow(ranks, more, &ranks)) fields.node().fail("more than 2^63 ranks");
  }
  return ranks;
}

/// True if layers have experts, under the key of 2023 or that of 2024.
bool has_experts(const FrameworkSettingsReader& fields) {
  for (const std::string_view key : {"moe_num_experts", "num_experts"}) {
    const auto value = fields.node().find(key);
    if (value && !value->is_null() && value->integer(0, kMaxIntegerSetting) > 1) return true;
  }
  return false;
}

void read_neox_sizes(const FrameworkSettingsReader& fields, const plan::Plan& plan,
                     StatedModel& model_words) {
  const auto layers = fields.find("num_layers");
  const auto hidden = fields.size("hidden_size");
  const auto heads = fields.size("num_attention_heads");
  const auto vocabulary = vocabulary_of(fields, plan.parallel.tensor);
  const bool experts = has_experts(fields);
  model_words.lacks = !layers       ? "the number of layers (--set num_layers=N)"
                      : !hidden     ? "the width (--set hidden_size=N)"
                      : !heads      ? "the number of heads (--set num_attention_heads=N)"
                      : !vocabulary ? "the vocabulary (--set vocab_size=N)"
                                    : "";
  if (experts)
    model_words.lacks = "which layers have experts, and how wide, in words that are read";
  if (!layers || !hidden || !heads || !vocabulary || experts) return;
  model::ModelArchitecture model;
  model.name = "imported";
  model.layers = layers->integer(1, model::kMaxModelLayers);
  model.hidden = *hidden;
  model.heads = *heads;
  model.kv_heads = fields.integer("num_kv_heads", *heads);
  model.head_dim = *hidden / *heads;
  model.vocabulary = *vocabulary;
  const bool rms = fields.word("norm", "layernorm") == "rmsnorm";
  model.norm = rms ? model::Norm::kRms : model::Norm::kLayer;
  model.norm_bias = !rms;
  static constexpr Named<model::PositionEncoding> kPositions[] = {
      {model::PositionEncoding::kRope, "rotary"},
      {model::PositionEncoding::kLearned, "learned"},
      {model::PositionEncoding::kAlibi, "alibi"},
      {model::PositionEncoding::kNone, "none"}};
  model.position = fields.choice("pos_emb", kPositions, model::PositionEncoding::kLearned);
  model.positions = fields.integer("max_position_embeddings", 0);
  model.rotary_fraction = fields.number("rotary_pct", 1);
  model.rotary_base = fields.number("rotary_emb_base", 10000);
  const bool bias = fields.flag("use_bias_in_attn_linear", true);
  model.qkv_bias = model.attention_output_bias = bias;
  model.tied = !fields.flag("no_weight_tying", false);
  model.parallel_residual = fields.flag("gpt_j_residual", false);
  model.dropout = fields.number("hidden_dropout", 0);
  fields.mark_setting_read("attention_dropout");
  read_neox_mlp(fields, model);
  model::check_model_sizes(model, fields.node().file_position_text());
  model_words.model = model;
}

void read_neox_degrees(const FrameworkSettingsReader& fields, plan::Plan& plan,
                       JobRankCounts& extent, ImportReport& report, const UserFacts& given,
                       const std::string& file) {
  plan::ParallelismDegrees& degrees = plan.parallel;
  degrees.tensor = fields.integer("model_parallel_size", 1);
  // With 0, DeepSpeed's pipeline engine is not used.
  degrees.pipeline = std::max<std::int64_t>(1, fields.integer("pipe_parallel_size", 0, 0));
  degrees.context = fields.integer("context_parallel_size", 1);
  degrees.expert = fields.integer("moe_expert_parallel_size", 1);
  // If the file lacks these numbers, the batch job states them.
  if (const auto nodes = fields.size("num_nodes")) extent.nodes = nodes;
  if (const auto devices = fields.size("num_gpus")) extent.devices_of_node = devices;
  if (!extent.nodes && !extent.devices_of_node) extent.ranks = ranks_of_batch(fields, degrees);
  resolve_cluster_and_data_degree(plan, extent, report, given, file);
  plan.sequence_parallel = degrees.tensor > 1 && fields.flag("sequence_parallel", false);
}

void read_neox_states(const FrameworkSettingsReader& zero, plan::Plan& plan, ImportReport& report) {
  static constexpr std::array<std::string_view, 4> kStages = {"NNN", "NNG", "NGG", "GGG"};
  const auto given = zero.find("stage");
  const auto stage = static_cast<int>(given ? given->integer(0, 3) : 0);
  plan.gradient_bucket = zero.integer("reduce_bucket_size", kDeepspeedDefaultBucketElements);
  plan.parameter_bucket = zero.integer("allgather_bucket_size", kDeepspeedDefaultBucketElements);
  plan.sharding = plan::sharding_named_by_word(kStages[static_cast<std::size_t>(stage)]).value();
  read_deepspeed_offload(zero, stage, plan, report);
}

void read_neox_precision(const FrameworkSettingsReader& fields, PartialPlan& settled,
                         ImportReport& report) {
  const auto on = [&](std::string_view key) {
    const auto value = fields.node().find(key);
    if (!value || value->is_null()) return false;
    if (!value->is_mapping()) return fields.flag(key, false);
    return fields.nested_settings(key).flag("enabled", false);
  };
  static constexpr Named<DType> kWords[] = {
      {DType::kFp16, "fp16"}, {DType::kBf16, "bfloat16"}, {DType::kFp32, "fp32"}};
  settled.precision = fields.choice("precision", kWords, DType::kFp32);
  if (on("fp16")) {
    // DeeperSpeed, for which files of 2021 and 2022 were written, reads the type from this key:
    // README.md of GPT-NeoX 1 and 2, tests/model/test_model_train.py (BF16_PARAMS_TO_TEST).
    const bool section = fields.node().get("fp16").is_mapping();
    const bool brain = section && fields.nested_settings("fp16").word("type", "fp16") == "bfloat16";
    settled.precision = brain ? DType::kBf16 : DType::kFp16;
    if (brain) {
      report.add_assumption(
          "job.precision",
          "fp16.type: bfloat16, which DeeperSpeed heeds; releases on DeepSpeed train in "
          "fp16");
    }
  }
  if (on("bf16")) settled.precision = DType::kBf16;
  const bool wide = fields.flag("fp32_allreduce", false) ||
                    fields.nested_settings("data_types").word("grad_accum_dtype", "") == "fp32";
  settled.plan.accumulate = wide ? DType::kFp32 : settled.precision;
}

/// Reads fused kernels, which are off by default (EleutherAI/gpt-neox
/// megatron/neox_arguments/neox_args.py: NeoXArgsModel). PyTorch's LayerNorm is always fused.
void read_neox_kernels(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  const bool softmax = fields.flag("scaled_upper_triang_masked_softmax_fusion", false) ||
                       fields.flag("scaled_masked_softmax_fusion", false);
  settled.kernels.emplace_back(&plan::FrameworkKernels::fused_softmax, softmax);
  settled.kernels.emplace_back(&plan::FrameworkKernels::fused_activation,
                               fields.flag("bias_gelu_fusion", false));
  if (fields.word("norm", "layernorm") == "rmsnorm") {
    settled.kernels.emplace_back(&plan::FrameworkKernels::fused_norm,
                                 fields.flag("rmsnorm_fusion", false));
  }
}

/// Returns the attention kernel of `[[["flash"], 32]]` or `[[["global"], "all"]]`, which all layers
/// share; nullopt for other configurations. megatron/neox_arguments/utils.py:
/// expand_attention_types.
std::optional<cluster::AttentionKernel> neox_attention(const FrameworkSettingsReader& fields) {
  const auto config = fields.node().find("attention_config");
  if (!config || !config->is_sequence()) return {};
  std::set<std::string> kinds;
  for (std::size_t i = 0; i < config->size(); ++i) {
    const DocumentNode group = config->at(i);
    const bool pair = group.is_sequence() && group.size() == 2 && group.at(0).is_sequence();
    if (!pair) config->fail("must be a list of [[kinds], count], as [[[\"flash\"], \"all\"]]");
    for (std::size_t k = 0; k < group.at(0).size(); ++k) kinds.insert(group.at(0).at(k).text());
  }
  if (kinds != std::set<std::string>{"flash"} && kinds != std::set<std::string>{"global"})
    return {};
  fields.mark_setting_read("attention_config");
  return kinds.contains("flash") ? cluster::AttentionKernel::kFlash2
                                 : cluster::AttentionKernel::kUnfused;
}

void read_neox_batch(const FrameworkSettingsReader& fields, plan::Plan& plan,
                     StatedStepBatch& batch) {
  batch.length = fields.size("seq_length");
  batch.sequences = fields.size("train_batch_size");
  batch.micro_batches = fields.size("gradient_accumulation_steps");
  if (!batch.micro_batches) batch.micro_batches = fields.size("gas");
  const auto micro = fields.size("train_micro_batch_size_per_gpu");
  plan.micro_batch = micro.value_or(1);
  batch.derive_micro_batch = !micro;
  // If only one of both is set, calculate_batch_parameters (megatron/neox_arguments/arguments.py)
  // assumes 1. A file with neither is started together with another file.
  if (!batch.micro_batches && micro.has_value() != batch.sequences.has_value()) {
    batch.micro_batches = 1;
  }
}

}  // namespace

PlanDraft read_gpt_neox(Sources files, const UserFacts& given, PlanDraft draft,
                        ImportReport& report) {
  if (is_shell_script(files.front())) {
    const ConfigurationFileRun run =
        read_run_from_configuration_files(files, given,
                                          {.framework = "GPT-NeoX",
                                           .arguments = "deepy.py train.py FILE.yml ...",
                                           .target = "gpt-neox",
                                           .options = {},
                                           .unnamed = true,
                                           .starts_processes = true},
                                          draft.extent, draft.start, report);
    return read_gpt_neox(run.files, run.given, std::move(draft), report);
  }
  const std::string& file = files.front().name;
  const YamlJsonDocument document =
      with_user_settings(YamlJsonDocument::from_tree(with_underscores(files), file), given);
  const FrameworkSettingsReader fields(document.root());
  plan::Plan& plan = draft.plan;
  draft.framework_overlap = true;
  read_neox_degrees(fields, draft.plan, draft.extent, report, given, file);
  read_neox_sizes(fields, draft.plan, draft);
  const FrameworkSettingsReader zero = fields.nested_settings("zero_optimization");
  read_neox_states(zero, draft.plan, report);
  if (fields.flag("checkpoint_activations", false)) {
    plan.recompute.kind = plan::RecomputeKind::kFull;
    if (const std::int64_t each = fields.integer("checkpoint_num_layers", 1); each > 1) {
      report.notes.push_back(fmt::format(
          "Recomputation is assumed to keep the input of each layer; the file keeps one of {}.",
          each));
    }
  }
  read_neox_precision(fields, draft, report);
  read_neox_batch(fields, draft.plan, draft.batch);
  read_neox_kernels(fields, draft);
  draft.attention = neox_attention(fields);
  static constexpr Named<plan::Optimizer> kWords[] = {{plan::Optimizer::kAdam, "Adam"},
                                                      {plan::Optimizer::kAdam, "adam"},
                                                      {plan::Optimizer::kAdamW, "AdamW"},
                                                      {plan::Optimizer::kSgd, "SGD"},
                                                      {plan::Optimizer::kSgd, "sgd"}};
  draft.optimizer =
      fields.nested_settings("optimizer").choice("type", kWords, plan::Optimizer::kAdam);
  report_read_and_unread_settings(fields, file, known_program_settings("gpt_neox/settings"),
                                  report);
  return draft;
}

}  // namespace stepwright::framework_files
