#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "stepwright/core/lower_case.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/python_report.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/framework_files/torchtitan/form.h"
#include "stepwright/framework_files/torchtitan/script.h"
#include "stepwright/framework_files/torchtitan/split.h"
#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// True if a text has a word between underscores: "qwen3" in "sft_qwen3_8b", not in "qwen35_2b".
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == '_') && (end == text.size() || text[end] == '_')) return true;
  }
  return false;
}

/// True if a flavor belongs to the configuration's family: by the model's name (TOML), by the
/// registry of the function that makes the model or, without one, by the configuration's own name.
bool is_of_family(const TitanModelFlavor& flavor, const FrameworkSettingsReader& root,
                  const TorchtitanConfiguration& file) {
  if (file.toml) return root.nested_settings("model").word("name", "llama3") == flavor.name;
  const std::string family = root.nested_settings("model_spec").word(kTorchtitanModelFamilyKey, "");
  return family.empty() ? has_word(file.python.function, flavor.name) : family == flavor.name;
}

/// Returns the flavor that a file names.
std::string flavor_of(const FrameworkSettingsReader& root, const TorchtitanConfiguration& file) {
  if (file.toml) return root.nested_settings("model").word("flavor", "debugmodel");
  const FrameworkSettingsReader spec = root.nested_settings("model_spec");
  const auto unnamed = spec.find("[]");
  const bool first = unnamed && unnamed->size() > 0 && unnamed->at(0).is_scalar();
  // If a flavor was replaced by another one, both names are there; `flavor` has the later one.
  return spec.word("flavor", first ? unnamed->at(0).text() : "");
}

/// Returns the built-in model after which the tokenizer's folder is named; empty if there is none.
std::string_view model_of_assets(const FrameworkSettingsReader& root,
                                 const TorchtitanConfiguration& file) {
  const FrameworkSettingsReader place = file.toml ? root.nested_settings("model") : root;
  for (const std::string_view key : {"hf_assets_path", "tokenizer_path"}) {
    const auto path = place.node().find(key);
    if (!path || !path->is_scalar()) continue;
    const std::string text = path->text();
    const auto known = model::built_in_model_of_hub_id(fmt::format("hub/{}", last_path_part(text)));
    if (known) return *known;
  }
  return "";
}

/// True if flavors have the same sizes: "8B_flex" differs from "8B" only in its attention.
bool is_same_model(std::string_view known, std::string_view flavor) {
  if (!flavor.starts_with(known)) return false;
  const std::string_view more = flavor.substr(known.size());
  static constexpr std::string_view kVariants[] = {"_flex", "_varlen", "_non_fused_qkv"};
  return more.empty() || std::ranges::any_of(kVariants, [&](std::string_view variant) {
           return more.starts_with(variant);
         });
}

void read_model_name(const FrameworkSettingsReader& root, const TorchtitanConfiguration& file,
                     StatedModel& model_words, ImportReport& report, const UserFacts& given) {
  const std::string flavor = flavor_of(root, file);
  if (given.known_model || flavor.empty()) return;
  const auto hub = root.find("hf_model");
  if (hub && hub->is_scalar()) {
    // Flavors of torchtitan's transformers backend are the named model, or a small model like it.
    const bool whole = flavor.find("debug") == std::string::npos;
    if (whole && set_built_in_model(hub->text(), given, model_words, report)) return;
    fail_input(fmt::format("{}: --model is required: the flavor {} of {} is not built in",
                           file.document.document_name(), one_line_printable_text(flavor),
                           one_line_printable_text(hub->text())));
  }
  const std::string_view assets = model_of_assets(root, file);
  std::string_view model;
  for (const TitanModelFlavor& known : torchtitan_model_flavors()) {
    if (!is_same_model(known.flavor, flavor) || !is_of_family(known, root, file)) continue;
    if (model.empty() || known.model == assets) model = known.model;
  }
  if (model.empty()) {
    const std::string family =
        root.nested_settings("model_spec").word(kTorchtitanModelFamilyKey, "");
    fail_input(
        fmt::format("{}: --model is required: the flavor {}{} is none of the built-in models",
                    file.document.document_name(), one_line_printable_text(flavor),
                    family.empty() ? "" : " of " + one_line_printable_text(family)));
  }
  model_words.model = model::built_in_model(model);
  const bool sizes = !model_words.model;
  if (sizes) {
    const YamlJsonDocument mapping =
        YamlJsonDocument::parse(fmt::format("model: {}", model), "flavor.yaml");
    model_words.model = model::read_inline_model(mapping.root().get("model"));
  }
  const std::int64_t ahead = root.nested_settings("model_spec").integer("num_mtp_layers", 0, 0);
  if (ahead > 0) model_words.model->multi_token_layers = std::min(ahead, model_words.model->layers);
  model_words.model->count_multi_token = ahead > 0;
  report.notes.push_back(
      sizes ? fmt::format("The flavor {} has the sizes {}.", flavor, model)
            : fmt::format("The flavor {} is assumed to be the model {}.", flavor, model));
}

/// Reads a batch counted in tokens, as torchtitan has it since 2026.
void read_batch_of_tokens(const FrameworkSettingsReader& fields,
                          const FrameworkSettingsReader& parallelism, plan::Plan& plan,
                          StatedStepBatch& batch) {
  batch.length = fields.size("max_context_length");
  const auto pass = fields.size("num_tokens_per_microbatch_per_dp_rank");
  if (!batch.length || !pass) {
    fields.node().fail("must say max_context_length and num_tokens_per_microbatch_per_dp_rank");
  }
  const auto given = fields.find("num_tokens_per_train_step");
  const std::int64_t step = given ? given->integer(-1, kMaxIntegerSetting) : -1;
  if ((step > 0 && step % *batch.length != 0) || *pass % *batch.length != 0) {
    fields.node().fail(fmt::format("tokens are not whole sequences of {}", *batch.length));
  }
  plan.micro_batch = *pass / *batch.length;
  if (plan.parallel.pipeline > 1) batch.micro_batches = parallelism.size("num_pp_microbatches");
  if (step > 0) {
    batch.sequences = step / *batch.length;
  } else if (plan.parallel.pipeline == 1) {
    batch.micro_batches = 1;
  }
}

void read_titan_batch(const FrameworkSettingsReader& fields,
                      const FrameworkSettingsReader& parallelism, plan::Plan& plan,
                      StatedStepBatch& batch, ImportReport& report) {
  if (fields.has("max_context_length") || fields.has("num_tokens_per_microbatch_per_dp_rank")) {
    read_batch_of_tokens(fields, parallelism, plan, batch);
    return;
  }
  const bool piped = plan.parallel.pipeline > 1;
  constexpr std::int64_t kUsualLocal = 8;
  constexpr std::int64_t kUsualLength = 2048;
  // This is the key's name before 0.1.
  const std::int64_t older = fields.integer("batch_size", kUsualLocal);
  const std::int64_t local = fields.integer("local_batch_size", older);
  batch.length = fields.integer("seq_len", kUsualLength);
  const auto given = fields.find("global_batch_size");
  const std::int64_t global = given ? given->integer(-1, kMaxIntegerSetting) : -1;
  // Number of backward passes for each update in fla-org/flame flame/config_manager.py.
  const std::int64_t passes = fields.integer("gradient_accumulation_steps", 1);
  batch.sequences = global > 0 ? global : local * plan.parallel.data * passes;
  plan.micro_batch = piped ? parallelism.integer("pipeline_parallel_microbatch_size", 1) : local;
  if (!piped) return;
  if (const auto parts = parallelism.size("num_pp_microbatches")) {
    if (local % *parts != 0) {
      fields.node().fail(
          fmt::format("batch_size {} is not a multiple of pipeline_parallel_microbatches "
                      "{}",
                      local, *parts));
    }
    plan.micro_batch = local / *parts;
  }
  if (local % plan.micro_batch != 0) {
    fields.node().fail(
        fmt::format("local_batch_size {} is not a multiple of "
                    "pipeline_parallel_microbatch_size {}",
                    local, plan.micro_batch));
  }
  const std::int64_t rounds =
      *batch.sequences / std::max<std::int64_t>(1, local * plan.parallel.data);
  if (rounds > 1) {
    report.notes.push_back(
        fmt::format("The schedule is one pipeline of all micro-batches; the file fills and drains "
                    "{} of them per step.",
                    rounds));
  }
}

void read_states(const FrameworkSettingsReader& fields, plan::Plan& plan, std::int64_t copies,
                 bool routed) {
  const plan::ParallelismDegrees& degrees = plan.parallel;
  const std::int64_t shared = degrees.data / copies * degrees.context;
  std::string_view word = "NNN";
  if (shared > 1 || (routed && degrees.expert_data_degree() > 1)) {
    static constexpr Named<int> kPolicies[] = {{0, "default"}, {1, "always"}, {2, "never"}};
    const int policy = fields.choice("fsdp_reshard_after_forward", kPolicies, 0);
    const bool again = policy == 1 || (policy == 0 && degrees.pipeline == 1);
    static constexpr std::string_view kEachBackward[] = {"NGG", "GGG", "NII", "III"};
    // Strategies with a pipeline, which synchronises in the last backward only:
    // torch/distributed/pipelining/stage.py, backward_maybe_with_nosync.
    static constexpr std::string_view kLastBackward[] = {"NNG", "GNG", "NNI", "INI"};
    const std::size_t which = (copies > 1 ? 2U : 0U) + (again ? 1U : 0U);
    word = degrees.pipeline > 1 ? kLastBackward[which] : kEachBackward[which];
  }
  plan.sharding = plan::sharding_named_by_word(word).value();
  if (!plan.sharding.uses(plan::StateShardingScope::kInner)) return;
  plan.sharding.group = shared;
}

const model::ModelArchitecture* model_of(const StatedModel& model_words, const UserFacts& given) {
  if (given.known_model) return &*given.known_model;
  return model_words.model ? &*model_words.model : nullptr;
}

bool has_experts(const StatedModel& model_words, const UserFacts& given) {
  const model::ModelArchitecture* model = model_of(model_words, given);
  return model != nullptr && model->experts;
}

PlanDraft read_titan_degrees(const FrameworkSettingsReader& fields, PlanDraft draft,
                             ImportReport& report, const UserFacts& given,
                             const TorchtitanConfiguration& form) {
  const std::string& file = form.document.document_name();
  plan::ParallelismDegrees& degrees = draft.plan.parallel;
  degrees.tensor = fields.integer("tensor_parallel_degree", 1);
  degrees.context = fields.integer("context_parallel_degree", 1);
  degrees.pipeline = fields.integer("pipeline_parallel_degree", 1);
  degrees.expert = fields.integer("expert_parallel_degree", 1);
  // Without expert parallelism, experts are split like other weights.
  degrees.expert_tensor = degrees.expert > 1 ? fields.integer("expert_tensor_parallel_degree", 1)
                          : has_experts(draft, given) ? degrees.tensor
                                                      : 1;
  const std::int64_t copies = fields.integer("data_parallel_replicate_degree", 1);
  const auto shards = fields.find("data_parallel_shard_degree");
  const std::int64_t share = shards ? shards->integer(-1, kMaxIntegerSetting) : -1;
  if (share > 0) {
    draft.extent.ranks = copies * share * degrees.tensor * degrees.context * degrees.pipeline;
  }
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  if (degrees.data % copies != 0) {
    fields.find("data_parallel_replicate_degree")
        ->fail(fmt::format("must divide {} data-parallel ranks", degrees.data));
  }
  return draft;
}

/// Sets recomputation by operator. A memory budget keeps activations in a way that no plan
/// expresses.
void take_by_operator(const FrameworkSettingsReader& fields, std::string_view name,
                      const TorchtitanConfiguration& file, plan::Plan& plan, ImportReport& report) {
  plan.recompute = {.kind = plan::RecomputeKind::kModules, .modules = plan::kPerOperator};
  if (name == "selective_ac_option") return;
  report.not_read.push_back(
      {fmt::format("activation_checkpoint.{}", name), "op", file.document.document_name(),
       fields.node().source_line(), SettingImpact::kYes,
       "recomputation by operator: it is taken as that of every second product"});
}

void read_titan_recompute(const FrameworkSettingsReader& root, const TorchtitanConfiguration& file,
                          plan::Plan& plan, ImportReport& report) {
  const FrameworkSettingsReader fields = root.nested_settings("activation_checkpoint");
  const std::string call = fields.word("()", "");
  static constexpr std::array<std::string_view, 4> kModes = {"none", "full", "selective",
                                                             "memory_budget"};
  // The default in a TOML file is selective recomputation of every second layer: torchtitan v0.1.0
  // to v0.2.2 torchtitan/config/job_config.py (before: config_manager.py), ActivationCheckpoint.
  const bool silent = file.toml && fields.node().size() == 0;
  if (silent) {
    report.add_assumption("recompute",
                          "torchtitan recomputes every second layer where [activation_checkpoint] "
                          "does not say");
  }
  std::string mode = fields.word("mode", silent || fields.node().size() > 0 ? "selective" : "none");
  if (call.starts_with("FullAC")) mode = "full";
  if (call.starts_with("MemoryBudget")) mode = "memory_budget";
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    fields.find("mode")->fail(fmt::format("must be one of {}", fmt::join(kModes, ", ")));
  }
  plan::ActivationRecomputation& recompute = plan.recompute;
  if (mode == "full") recompute.kind = plan::RecomputeKind::kFull;
  if (mode == "none" || mode == "full") return;
  const std::string option = fields.word("selective_ac_option", file.toml ? "2" : "op");
  if (mode == "memory_budget" || option == "op") {
    take_by_operator(fields, mode == "selective" ? "selective_ac_option" : "mode", file, plan,
                     report);
    return;
  }
  const IntegerParseResult every = read_integer(option);
  if (every.status != IntegerParseResult::IntegerParseStatus::kGood || every.value < 1) {
    fields.find("selective_ac_option")->fail("must be op, or so many layers as '2'");
  }
  recompute = {.kind = plan::RecomputeKind::kEvery, .every = every.value};
}

/// Returns the names of converters, under the keys of any release.
std::vector<std::string> converters_of(const FrameworkSettingsReader& root) {
  std::vector<std::string> words;
  const auto add = [&](const std::optional<DocumentNode>& list) {
    if (list && list->is_scalar()) words.push_back(list->text());
    for (std::size_t i = 0; list && list->is_sequence() && i < list->size(); ++i) {
      const DocumentNode one = list->at(i);
      if (one.is_scalar()) words.push_back(one.text());
      if (one.is_mapping() && one.find("()")) words.push_back(one.get("()").text());
    }
  };
  add(root.nested_settings("model").find("converters"));
  add(root.nested_settings("model_converters").find("converters"));
  add(root.nested_settings("model_spec").find("converters"));
  return words;
}

void read_converters(const FrameworkSettingsReader& root, PartialPlan& settled,
                     ImportReport& report) {
  // Before v0.1.0 torchtitan had this switch instead of converters: config_manager.py.
  if (root.nested_settings("float8").flag("enable_float8_linear", false))
    settled.precision = DType::kFp8;
  for (const std::string& converter : converters_of(root)) {
    const std::string word = to_lower_case(converter);
    if (word.find("mx") != std::string::npos) {
      settled.precision = DType::kMxfp8;
    } else if (word.find("float8") != std::string::npos) {
      if (settled.precision != DType::kMxfp8) settled.precision = DType::kFp8;
    } else if (!word.empty()) {
      const bool adapters = word.find("lora") != std::string::npos;
      report.not_read.push_back({"model.converters", one_line_printable_text(word), "", 0,
                                 SettingImpact::kYes,
                                 adapters ? "adapters: all weights are trained in the plan"
                                          : "what this converter changes"});
    }
  }
}

/// Reads the optimizer of each parameter group (torchtitan/components/optimizer/optimizer.py): Muon
/// updates matrices if any group names it, AdamW all other parameters.
void read_titan_optimizer(const FrameworkSettingsReader& fields, PartialPlan& settled,
                          ImportReport& report) {
  static constexpr Named<plan::Optimizer> kWords[] = {{plan::Optimizer::kAdamW, "AdamW"},
                                                      {plan::Optimizer::kAdam, "Adam"},
                                                      {plan::Optimizer::kMuon, "Muon"},
                                                      {plan::Optimizer::kMuon, "DistMuon"}};
  settled.optimizer = fields.choice("name", kWords, plan::Optimizer::kAdamW);
  const auto groups = fields.node().find("param_groups");
  if (!groups || !groups->is_sequence()) return;
  for (std::size_t i = 0; i < groups->size(); ++i) {
    const DocumentNode group = groups->at(i);
    const auto name = group.is_mapping() ? group.find("optimizer_name") : std::nullopt;
    if (!name || !name->is_scalar()) continue;
    const auto* const word = std::ranges::find(kWords, name->text(), &Named<plan::Optimizer>::name);
    if (word == std::end(kWords)) {
      report.add_unmodelled_setting(*name,
                                    "the states of this optimizer: those of AdamW are counted");
    } else if (settled.optimizer != plan::Optimizer::kMuon) {
      settled.optimizer = word->value;
    }
  }
  fields.mark_setting_read("param_groups");
}

/// Reads torch.compile, which fuses norms, gates and the loss: torchtitan/config/configs.py,
/// CompileConfig. Asynchronous tensor parallelism needs compilation, too, but a plan with it does
/// not state these fusions; they are left out, so that reading a written plan gives the same plan.
void read_titan_compile(const FrameworkSettingsReader& root, PartialPlan& settled,
                        ImportReport& report) {
  const FrameworkSettingsReader compile = root.nested_settings("compile");
  const auto enable = compile.node().find("enable");
  if (settled.plan.overlap.tensor && enable && enable->is_scalar()) {
    report.add_unmodelled_setting(*enable, "what torch.compile fuses");
    return;
  }
  const bool blocks = root.nested_settings("training").flag("compile", false);
  if (!blocks && !compile.flag("enable", false)) return;
  const auto listed = compile.find("components");
  const std::vector<std::string> parts =
      listed ? split_word_list(*listed) : std::vector<std::string>{"model", "loss"};
  const auto has = [&](std::string_view part) {
    return std::ranges::find(parts, part) != parts.end();
  };
  if (has("model")) {
    settled.kernels.emplace_back(&plan::FrameworkKernels::fused_norm, true);
    settled.kernels.emplace_back(&plan::FrameworkKernels::fused_activation, true);
  }
  if (has("loss")) settled.fused_cross_entropy = true;
}

/// Reads the loss. A chunked loss runs the head's backward chunk by chunk:
/// torchtitan/components/loss.py.
void read_titan_loss(const FrameworkSettingsReader& loss, PartialPlan& settled) {
  if (!loss.word("()", "").starts_with("Chunked")) return;
  constexpr std::int64_t kUsualChunks = 8;
  settled.fused_cross_entropy = true;
  const std::int64_t chunks = loss.integer("num_chunks", kUsualChunks);
  settled.loss =
      LossComputation{std::min(chunks, plan::kMostLossChunks), plan::LossSavedTensors::kGradients};
}

void read_titan_precision(const FrameworkSettingsReader& root, PartialPlan& settled,
                          ImportReport& report) {
  static constexpr Named<DType> kTypes[] = {{DType::kBf16, "bfloat16"}, {DType::kFp32, "float32"}};
  const FrameworkSettingsReader fields = root.nested_settings("training");
  settled.precision = fields.choice("mixed_precision_param", kTypes, DType::kBf16);
  const std::string type = fields.word("dtype", "float32");
  if (type == "bfloat16" && settled.precision == DType::kBf16) {
    settled.masters = plan::MasterWeights::kNone;
  } else if (type != "float32") {
    report.add_unmodelled_setting(*fields.find("dtype"),
                                  "parameters of another type: they are predicted in fp32");
  }
  settled.framework_gradients = !fields.has("mixed_precision_reduce") && !settled.masters;
  settled.plan.accumulate = fields.choice("mixed_precision_reduce", kTypes, DType::kFp32);
  read_converters(root, settled, report);
  read_titan_loss(root.nested_settings("loss"), settled);
  read_titan_optimizer(root.nested_settings("optimizer"), settled, report);
}

/// Reads deterministic runs (torchtitan/distributed/utils.py, set_determinism), which `[training]`
/// states before 0.2.
void read_titan_determinism(const FrameworkSettingsReader& root, PartialPlan& settled) {
  for (const std::string_view section : {"training", "debug"}) {
    const FrameworkSettingsReader fields = root.nested_settings(section);
    if (!fields.flag("deterministic", false)) continue;
    settled.kernels.emplace_back(&plan::FrameworkKernels::deterministic, true);
    fields.record_unmodelled_setting("deterministic", *fields.find("deterministic"),
                                     "that deterministic kernels take longer");
  }
}

/// Reads CUDA graphs. Since 0.3, forward and backward are one graph, unless a file disables it or
/// has settings that exclude graphs: torchtitan/trainer.py: Config._validate_cuda_graphs. Files
/// with an ActivationCheckpointConfig are older.
void read_titan_graphs(const FrameworkSettingsReader& root, PartialPlan& settled,
                       ImportReport& report) {
  const plan::ParallelismDegrees& degrees = settled.plan.parallel;
  const FrameworkSettingsReader training = root.nested_settings("training");
  const bool older =
      root.nested_settings("activation_checkpoint").word("()", "") == "ActivationCheckpointConfig";
  const bool off = training.flag("disable_cuda_graphs", older);
  settled.cuda_graphs.step = !off && degrees.pipeline == 1 && degrees.expert == 1;
  if (settled.cuda_graphs.step && !training.has("disable_cuda_graphs")) {
    report.add_assumption("job.kernels",
                          "a step is a CUDA graph unless training.disable_cuda_graphs");
  }
}

/// Reads the attention kernel from `attn_backend`. For packed documents it is FlashAttention-3 on
/// devices that have it, version 4 on Blackwell (counted as cuDNN's kernel), else version 2
/// (torchtitan/tools/utils.py, get_cuda_flash_attention_impl); FlexAttention by version 4 likewise.
void read_titan_attention(const FrameworkSettingsReader& spec, PartialPlan& settled,
                          JobRankCounts& extent) {
  const auto backend = spec.node().find("attn_backend");
  if (backend && !backend->is_scalar()) return;
  // The default is FlexAttention, except for gpt-oss.
  const bool any_length = spec.word(kTorchtitanModelFamilyKey, "") == "gpt_oss";
  const std::string word(backend      ? backend->text()
                         : any_length ? kTitanVarlen
                                      : kTorchtitanFlexAttention);
  const cluster::DeviceGeneration& generation =
      cluster::device_generation_of(extent.cluster.device);
  const bool third =
      generation.has_kernel[static_cast<std::size_t>(cluster::AttentionKernel::kFlash3)];
  if (word == kTitanVarlen || word == kTitanFlexFlash) {
    settled.attention = third                                 ? cluster::AttentionKernel::kFlash3
                        : generation.compute_capability >= 10 ? cluster::AttentionKernel::kCudnn
                                                              : cluster::AttentionKernel::kFlash2;
  } else if (word != kTorchtitanFlexAttention) {
    return;
  }
  spec.mark_setting_read("attn_backend");
  if (word != kTitanVarlen || settled.plan.parallel.context == 1) return;
  // update_from_config in torchtitan/models/llama3/model.py refuses the combination.
  settled.refused = plan::PlanRejection{
      .rule = plan::PlanLegalityRule::kUnfusedContext,
      .message =
          "context parallelism with attn_backend varlen, with which torchtitan does not "
          "start; use flex",
      .nearest = {}};
}

void read_titan_overlap(const FrameworkSettingsReader& root, const FrameworkSettingsReader& fields,
                        PartialPlan& settled, ImportReport& report) {
  plan::Plan& plan = settled.plan;
  plan.sequence_parallel =
      plan.parallel.tensor > 1 && fields.flag("enable_sequence_parallel", true);
  plan.context_kind = fields.choice("context_parallel_rotate_method", kRotateMethods,
                                    plan::ContextKind::kAllGather);
  settled.framework_overlap = true;
  if (fields.flag("disable_loss_parallel", false) && plan.parallel.tensor > 1) {
    settled.kernels.emplace_back(&plan::FrameworkKernels::gathered_logits, true);
  }
  plan.overlap.tensor = fields.flag("enable_async_tensor_parallel", false) ||
                        root.nested_settings("compile").flag("enable_async_tensor_parallel", false);
  static constexpr Named<plan::TokenDispatcher> kWords[] = {
      {plan::TokenDispatcher::kAllToAll, "standard"},
      {plan::TokenDispatcher::kOncePerNode, "deepep"},
      {plan::TokenDispatcher::kOncePerNode, "hybridep"}};
  settled.dispatcher =
      fields.choice("expert_parallel_comm_backend", kWords, plan::TokenDispatcher::kAllToAll);
  const FrameworkSettingsReader spec = root.nested_settings("model_spec");
  const auto backend = spec.node().find("moe_comm_backend");
  if (backend && backend->is_scalar() && backend->text() == "minimal_async_ep") {
    report.add_unmodelled_setting(*backend, "its own exchange of tokens without waits for sizes");
  } else {
    settled.dispatcher = spec.choice("moe_comm_backend", kWords, settled.dispatcher);
  }
  plan.collectives = {};
}

}  // namespace

std::vector<TitanModelFlavor> torchtitan_model_flavors() {
  const ProgramWordTable& table = loaded_table<ProgramWordTable>("torchtitan/models");
  std::vector<TitanModelFlavor> flavors;
  for (const std::string_view family : table.section_names()) {
    if (family == "sizes") continue;
    for (const auto& [model, flavor] : table.words_of_section(family)) {
      flavors.push_back({model, family, flavor});
    }
    for (const auto& [place, sizes] : table.words_of_section("sizes")) {
      const std::string_view path = place;
      const std::size_t slash = path.find('/');
      if (path.substr(0, slash) == family) {
        flavors.push_back({sizes, family, path.substr(slash + 1)});
      }
    }
  }
  return flavors;
}

std::optional<TitanModelFlavor> torchtitan_flavor_of_model(std::string_view model) {
  const std::vector<TitanModelFlavor> flavors = torchtitan_model_flavors();
  const auto found = std::ranges::find(flavors, model, &TitanModelFlavor::model);
  return found == flavors.end() ? std::nullopt : std::optional(*found);
}

namespace {

/// Converts a configuration of flash-linear-attention's own transformer to one of transformers'
/// Llama; fla-org/flash-linear-attention fla/models/transformer/configuration_transformer.py and
/// fla/modules/mlp.py: GatedMLP.
YamlJsonDocument as_llama(const YamlJsonDocument& config) {
  constexpr std::int64_t kMultiple = 256;
  DocumentTree tree = config.root().copy_tree_with_file_positions();
  const DocumentTree* const type = tree.find("model_type");
  if (type == nullptr || type->text != "transformer")
    return YamlJsonDocument::from_tree(tree, config.document_name());
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"num_heads", "num_attention_heads"},
      {"num_kv_heads", "num_key_value_heads"},
      {"norm_eps", "rms_norm_eps"}};
  for (const auto& [own, name] : kNames) {
    const DocumentTree* const value = tree.find(own);
    if (value != nullptr && value->kind == DocumentTree::TreeValueKind::kScalar)
      tree.set(name, *value);
  }
  tree.set("model_type", "llama").set("hidden_act", "silu");
  if (tree.find("tie_word_embeddings") == nullptr) tree.set("tie_word_embeddings", false);
  const DocumentTree* const width = tree.find("intermediate_size");
  if (width != nullptr && width->kind == DocumentTree::TreeValueKind::kScalar) {
    return YamlJsonDocument::from_tree(tree, config.document_name());
  }
  const FrameworkSettingsReader fields(config.root());
  const std::int64_t wide =
      fields.integer("hidden_size", 2048) * fields.integer("hidden_ratio", 4) * 2 / 3;
  tree.set("intermediate_size", (wide + kMultiple - 1) / kMultiple * kMultiple);
  return YamlJsonDocument::from_tree(tree, config.document_name());
}

}  // namespace

void set_titan_transformers_model(const TorchtitanConfiguration& file, Sources files,
                                  const UserFacts& given, StatedModel& model_words,
                                  ImportReport& report) {
  const FrameworkSettingsReader model =
      FrameworkSettingsReader(file.document.root()).nested_settings("model");
  const auto path = model.node().find("config");
  if (!path || !path->is_scalar() || path->is_null() || model_words.model || given.known_model)
    return;
  for (const SourceFile& one : files) {
    if (last_path_part(one.name) != last_path_part(path->text())) continue;
    model_words.model = model::read_huggingface_config(
        as_llama(parse_like_python_yaml(one.text, one.name)), &report.notes);
    return;
  }
  fail_input(fmt::format(
      "--model is required: {} trains a configuration of transformers, model.config {}: give this "
      "file, too, or --model CONFIG.JSON",
      file.document.document_name(), one_line_printable_text(path->text())));
}

PlanDraft read_titan_plan(const TorchtitanConfiguration& file, const UserFacts& given,
                          PlanDraft draft, ImportReport& report) {
  if (file.toml && draft.framework.version.empty()) draft.framework.version = "0.2.2";
  const FrameworkSettingsReader root(file.document.root());
  const FrameworkSettingsReader parallelism = root.nested_settings("parallelism");
  if (draft.model) root.nested_settings("model").mark_setting_read("config");
  if (!draft.model) read_model_name(root, file, draft, report, given);
  draft = read_titan_degrees(parallelism, std::move(draft), report, given, file);
  const model::ModelArchitecture* model = model_of(draft, given);
  read_titan_schedule(parallelism, model == nullptr ? 0 : model->layers, draft.plan, report);
  read_titan_batch(root.nested_settings("training"), parallelism, draft.plan, draft.batch, report);
  read_states(parallelism, draft.plan, parallelism.integer("data_parallel_replicate_degree", 1),
              has_experts(draft, given));
  read_titan_recompute(root, file, draft.plan, report);
  read_titan_precision(root, draft, report);
  const FrameworkSettingsReader training = root.nested_settings("training");
  if (training.flag("enable_cpu_offload", false)) {
    set_fsdp_host_offload(make_unread_setting(*training.find("enable_cpu_offload")), draft, report);
  }
  read_titan_overlap(root, parallelism, draft, report);
  read_titan_compile(root, draft, report);
  read_titan_determinism(root, draft);
  if (!file.toml) {
    read_titan_graphs(root, draft, report);
    read_titan_attention(root.nested_settings("model_spec"), draft, draft.extent);
  }
  report_read_and_unread_settings(root, file.document.document_name(),
                                  known_program_settings("torchtitan/settings"), report);
  report_unread_python_values(file.python, file.document,
                              known_program_settings("torchtitan/settings"), report);
  return draft;
}

PlanDraft read_torchtitan(Sources files, const UserFacts& given, PlanDraft draft,
                          ImportReport& report) {
  if (is_shell_script(files.front()))
    return read_titan_script(files, given, std::move(draft), report);
  std::vector<SourceFile> own(files.begin(), files.end());
  if (own.size() > 1) {
    std::erase_if(own,
                  [](const SourceFile& one) { return file_contains_text(one, "\"model_type\""); });
  }
  const TorchtitanConfiguration file = read_titan_configuration(own, given);
  set_titan_transformers_model(file, files, given, draft, report);
  return read_titan_plan(file, given, std::move(draft), report);
}

}  // namespace stepwright::framework_files
