#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/launchers/configured.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/framework_files/torchtune/models.h"
#include "stepwright/framework_files/torchtune/overrides.h"
#include "stepwright/launch_scripts/shell/batch.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kTuneRun = "tune run";

/// Sets one process if `tune run` has no options of torchrun (torchtune/_cli/run.py,
/// _is_distributed_args); true if it has none.
bool take_one_process(Words words, const std::string& place, JobRankCounts& extent) {
  const std::size_t at = torchtune_recipe_argument_index(words);
  if (at == 0 || words[at - 1].text != "run") return false;
  if (words[at].text.ends_with("_distributed")) {
    fail_input(fmt::format("{}: starts {} without --nproc_per_node, which that recipe asks for",
                           place, one_line_printable_text(words[at].text)));
  }
  extent.nodes = extent.devices_of_node = std::nullopt;
  extent.ranks = 1;
  return true;
}

std::vector<ShellWord> words_of_line(std::string_view line) {
  std::vector<ShellWord> words;
  std::istringstream text{std::string(line)};
  for (std::string word; text >> word;) words.push_back({.text = word});
  return words;
}

/// Takes the number of processes from the first `tune run` command in a configuration's comments,
/// which torchtune's own configurations contain. A script or the user overrides it.
void take_commented_run(const SourceFile& file, const UserFacts& given, JobRankCounts& extent,
                        ImportReport& report) {
  const bool given_extent = given.nodes || given.devices || given.known_cluster ||
                            given.cluster.find_first_of(":{") != std::string::npos;
  std::string_view text = file.text;
  for (std::uint32_t number = 1; !text.empty() && !given_extent; ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with('#') || line.find(kTuneRun) == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", file.name, number);
    const std::vector<ShellWord> words = words_of_line(line);
    if (!take_one_process(words, place, extent)) {
      extent.nodes = launch_scripts::launcher_option_number(words, "--nnodes").value_or(1);
      extent.devices_of_node = launch_scripts::launcher_option_number(words, "--nproc_per_node");
      if (!extent.devices_of_node)
        extent.devices_of_node = launch_scripts::launcher_option_number(words, "--nproc-per-node");
    }
    report.notes.push_back(
        fmt::format("The number of processes is that of the command in a comment of {}; --nodes "
                    "and --gpus override it.",
                    place));
    return;
  }
}

/// Fails for settings that torchtune's recipes refuse: recipes/full_finetune_distributed.py,
/// __init__.
void check_recipe(const FrameworkSettingsReader& root) {
  const DocumentNode node = root.node();
  const auto is_on = [](DocumentNode section, std::string_view key) {
    const auto value = section.find(key);
    return value && !value->is_null() && value->boolean();
  };
  if (is_on(node, "optimizer_in_bwd")) {
    if (root.integer("gradient_accumulation_steps", 1) > 1) {
      node.get("gradient_accumulation_steps")
          .fail("is above 1 together with optimizer_in_bwd, which torchtune refuses");
    }
    const auto clip = node.find("clip_grad_norm");
    if (clip && !clip->is_null()) {
      clip->fail("is set together with optimizer_in_bwd, which torchtune refuses");
    }
  }
  if (is_on(node, "enable_activation_offloading") &&
      !is_on(node, "enable_activation_checkpointing")) {
    node.get("enable_activation_offloading")
        .fail("asks for enable_activation_checkpointing, without which torchtune refuses it");
  }
  const auto split = node.find("tensor_parallel_dim");
  if (split && !split->is_null() && split->integer(1, kMaxIntegerSetting) > 1 &&
      is_on(root.nested_settings("optimizer").node(), "fused")) {
    split->fail("is above 1 together with a fused optimizer, which torchtune refuses");
  }
}

/// Fails for a configuration that trains nothing, or by a method that is not supported.
void check_trains_by_itself(const FrameworkSettingsReader& root) {
  if (root.node().find("policy_model")) {
    root.node().get("policy_model").fail_unsupported("is trained by PPO, which is not read");
  }
  if (!root.node().find("optimizer") || !root.node().find("model")) {
    root.node().fail_unsupported("has no model and optimizer: nothing is trained");
  }
}

std::optional<StatedLoraAdapters> tune_adapters(const FrameworkSettingsReader& model) {
  const TorchtuneModelBuilder builder = tune_builder(model.word("_component_", ""));
  const auto modules = model.find("lora_attn_modules");
  if (!builder.adapters && !modules) return {};
  StatedLoraAdapters words = read_lora_adapter_settings(model, "torchtune/adapters", "lora");
  if (modules && modules->is_sequence() && modules->size() == 0) words.modules.clear();
  if (model.flag("apply_lora_to_mlp", false)) {
    words.modules.insert(words.modules.end(), {"w1", "w2", "w3"});
  }
  if (builder.narrow || model.flag("quantize_base", false)) words.base = DType::kNf4;
  return words;
}

/// Reads recomputation of whole layers, or of every n-th (torchtune/training/activations.py).
/// `ac_mode` counts only if the older switch is off.
void read_tune_recompute(const FrameworkSettingsReader& root, plan::Plan& plan) {
  plan::ActivationRecomputation& recompute = plan.recompute;
  const std::string mode = root.word("ac_mode", "none");
  if (root.flag("enable_activation_checkpointing", false)) {
    recompute.kind = mode == "none" ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone;
    if (root.flag("enable_activation_offloading", false)) plan.offload.move_inputs();
    return;
  }
  static constexpr std::string_view kModes[] = {"none", "full", "selective"};
  if (std::ranges::find(kModes, mode) == std::end(kModes)) {
    root.find("ac_mode")->fail("must be none, full or selective");
  }
  if (mode == "full") recompute.kind = plan::RecomputeKind::kFull;
  if (mode != "selective") return;
  const auto option = root.find("ac_option");
  if (!option)
    root.find("ac_mode")->fail("is selective without ac_option, a number of layers or op");
  if (option->text() == "op") {
    recompute = {.kind = plan::RecomputeKind::kModules, .modules = plan::kPerOperator};
    root.record_unmodelled_setting(
        "ac_option", *option,
        "recomputation by operator: it is taken as that of every second product");
    return;
  }
  const IntegerParseResult every = read_integer(option->text());
  if (every.status != IntegerParseResult::IntegerParseStatus::kGood || every.value < 1) {
    option->fail("must be op, or so many layers as '2'");
  }
  recompute = {.kind = plan::RecomputeKind::kEvery, .every = every.value};
}

/// Reads an optimizer of torch.optim, bitsandbytes.optim or torchao.optim by the last part of its
/// component's name.
plan::Optimizer read_tune_optimizer(const FrameworkSettingsReader& optimizer) {
  const DocumentNode component = optimizer.node().get("_component_");
  const std::string text = component.text();
  const std::string_view known =
      meaning_of_program_setting_word("torchtune/words", "optimizers", text);
  const OptimizerNameMeaning* word = known.empty() ? nullptr : find_optimizer_name(known);
  const plan::Optimizer found = word != nullptr ? word->optimizer : plan::Optimizer::kAdamW;
  if (word != nullptr && word->leaves_out.empty()) {
    optimizer.mark_setting_read("_component_");
    return found;
  }
  optimizer.record_unmodelled_setting(
      "_component_", component,
      std::string(word != nullptr ? word->leaves_out
                                  : "its states and its update: AdamW's are counted"));
  return found;
}

/// Reads the degrees, which only recipes without adapters have.
void read_tune_degrees(const FrameworkSettingsReader& root, plan::Plan& plan,
                       const StatedModel& model_words) {
  static constexpr Named<plan::ContextKind> kRotations[] = {
      {plan::ContextKind::kAllGather, "allgather"}, {plan::ContextKind::kRing, "alltoall"}};
  if (model_words.adapters) return;
  plan.parallel.tensor = root.integer("tensor_parallel_dim", 1);
  plan.parallel.context = root.integer("context_parallel_dim", 1);
  plan.context_kind =
      root.choice("context_parallel_rotate_method", kRotations, plan::ContextKind::kAllGather);
}

/// Shards states by FSDP2 over all ranks that tensor parallelism leaves, in one group for each
/// replica: torchtune/training/_distributed.py, shard_model and ParallelDims.
PlanDraft read_tune_states(const FrameworkSettingsReader& root, const std::string& file,
                           PlanDraft draft, ImportReport& report) {
  FsdpOptions choice{.states = root.flag("fsdp_reshard_after_forward", true) ? "GGG" : "NGG"};
  const auto host = root.find("fsdp_cpu_offload");
  if (host && host->boolean()) choice.offload = make_unread_setting(*host);
  TrainerDistribution trainer;
  if (!draft.adapters) {
    trainer.copies = root.integer("data_parallel_replicate_dim", 1);
    const auto share = root.find("data_parallel_shard_dim");
    if (share && share->integer(-1, kMaxIntegerSetting) > 0)
      trainer.share = share->integer(1, kMaxIntegerSetting);
  }
  apply_fsdp_options(choice, data_parallel_replica_count(trainer, draft.plan, draft.extent, file),
                     draft, draft.extent, report);
  return draft;
}

/// Reads the loss of torchtune/modules/loss: PyTorch's, over chunks of tokens or all tokens,
/// compiled if `compile` is set; or Liger's kernel, in torchtune's main branch.
void read_tune_loss(const FrameworkSettingsReader& root, PartialPlan& settled) {
  const auto loss = root.nested_settings("loss").node().find("_component_");
  const std::string name = loss ? loss->text() : "";
  const bool own = !name.empty() && !name.starts_with("torchtune.") && !name.starts_with("torch.");
  if (own || name.find("rlhf") != std::string::npos) {
    root.record_unmodelled_setting("loss._component_", *loss,
                                   "a second model or another loss: one of tokens is counted");
  }
  const auto compile = root.find("compile");
  bool compiles = compile && compile->is_scalar() && compile->boolean();
  if (compile && compile->is_mapping())
    compiles = root.nested_settings("compile").flag("model", true);
  if (compiles) settled.kernels.emplace_back(&plan::FrameworkKernels::fused_norm, true);
  settled.fused_cross_entropy = compiles;
  constexpr std::int64_t kUsualChunks = 8;
  const FrameworkSettingsReader words = root.nested_settings("loss");
  if (name.find("Liger") != std::string::npos) {
    words.mark_setting_read("_component_");
    settled.apply_liger_loss(true);
  } else if (name.ends_with("LinearCrossEntropyLoss") || name.ends_with("ChunkedOutputLoss")) {
    words.mark_setting_read("_component_");
    const std::int64_t chunks = words.integer("num_output_chunks", kUsualChunks);
    const bool all = name.ends_with("ChunkedOutputLoss");
    settled.loss =
        LossComputation{std::min(chunks, plan::kMostLossChunks),
                        all ? plan::LossSavedTensors::kAllLogits : plan::LossSavedTensors::kLogits};
  }
}

/// Reads the batch. Packing (torchtune/datasets/_packed.py) keeps documents in order, and either
/// pads each sequence or cuts a document where a sequence is full. Tokenizers keep the first
/// `max_seq_len` tokens of a document (torchtune/modules/transforms/tokenizers/_utils.py). Without
/// packing, each document is padded to the longest of its micro-batch (torchtune/data/_collate.py).
void read_tune_batch(const FrameworkSettingsReader& root, const std::string& file,
                     const UserFacts& given, plan::Plan& plan, StatedStepBatch& batch) {
  // A list of datasets is concatenated without packing.
  const auto listed = root.node().find("dataset");
  if (listed && listed->is_sequence()) root.mark_setting_read("dataset");
  const FrameworkSettingsReader data =
      root.nested_settings(listed && listed->is_sequence() ? "" : "dataset");
  batch.length = root.nested_settings("tokenizer").size("max_seq_len");
  if (!batch.length) batch.length = data.size("max_seq_len");
  const auto flag = data.node().find("packed");
  const bool packed = flag && !flag->is_null() && flag->boolean();
  if (!batch.length && packed) {
    flag->fail("asks for tokenizer.max_seq_len, without which torchtune refuses it");
  }
  if (!batch.length && given.batch.empty()) {
    fail_input(
        fmt::format("{}: states no tokenizer.max_seq_len, so sequences are as long as their "
                    "documents: state the length to count with --set tokenizer.max_seq_len=N",
                    file));
  }
  StatedDocumentPacking words;
  words.packing.too_long = packing::LongDocumentPolicy::kTruncate;
  if (packed) {
    words.packing.kind = packing::PackingKind::kGreedy;
    if (data.flag("split_across_pack", false))
      words.packing.too_long = packing::LongDocumentPolicy::kSplit;
  }
  set_user_document_packing(data, "packed", words, given, batch);
  plan.micro_batch = root.integer("batch_size", 1);
  batch.micro_batches = root.integer("gradient_accumulation_steps", 1);
}

PlanDraft read_tune_document(const YamlJsonDocument& document, const UserFacts& given,
                             PlanDraft draft, ImportReport& report) {
  static constexpr Named<DType> kTypes[] = {{DType::kBf16, "bf16"}, {DType::kFp32, "fp32"}};
  const FrameworkSettingsReader root(document.root());
  const std::string& file = document.root().file();
  check_trains_by_itself(root);
  check_recipe(root);
  draft.framework.variant = "torchtune";
  draft.framework_overlap = draft.framework_gradients = true;
  const FrameworkSettingsReader model = root.nested_settings("model");
  read_torchtune_model(model, draft);
  draft.adapters = tune_adapters(model);
  draft.precision = root.choice("dtype", kTypes, DType::kBf16);
  draft.optimizer = read_tune_optimizer(root.nested_settings("optimizer"));
  read_tune_recompute(root, draft.plan);
  read_tune_loss(root, draft);
  read_tune_degrees(root, draft.plan, draft);
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  draft = read_tune_states(root, file, std::move(draft), report);
  read_tune_batch(root, file, given, draft.plan, draft.batch);
  report_read_and_unread_settings(root, file, known_program_settings("torchtune/settings"), report);
  return draft;
}

/// Reads the configuration that a script's command names, overridden by the words after it.
PlanDraft read_tune_script(Sources files, const UserFacts& given, PlanDraft draft,
                           ImportReport& report) {
  static constexpr std::string_view kOptions[] = {"--config"};
  const ConfigurationFileRun run =
      read_run_from_configuration_files(files, given,
                                        {.framework = "torchtune",
                                         .arguments = "--config NAME",
                                         .target = "torchtune",
                                         .options = kOptions,
                                         .overrides = true},
                                        draft.extent, draft.start, report);
  std::vector<ShellWord> words = draft.start.launchers;
  words.push_back({.text = draft.start.program});
  take_one_process(words, draft.start.source, draft.extent);
  const std::vector<ShellWord> recipe = {words.back(), {.text = "--config"}};
  if (draft.start.program.ends_with(".py") &&
      !command_matches_target_rules("torchtune", recipe, "recipe")) {
    report.not_read.push_back({one_line_printable_text(draft.start.program), "", draft.start.source,
                               0, SettingImpact::kMaybe,
                               "a recipe of its own: the settings are read as torchtune's recipes "
                               "read them"});
  }
  const SourceFile& file = run.files.front();
  std::vector<std::string> over = run.words;
  over.insert(over.end(), run.given.settings.begin(), run.given.settings.end());
  return read_tune_document(
      with_torchtune_overrides(parse_like_python_yaml(file.text, file.name), over), run.given,
      std::move(draft), report);
}

}  // namespace

PlanDraft read_torchtune(Sources files, const UserFacts& given, PlanDraft draft,
                         ImportReport& report) {
  if (std::ranges::any_of(files, is_shell_script))
    return read_tune_script(files, given, std::move(draft), report);
  if (files.size() != 1) fail_input("torchtune: one configuration is read at a time");
  const SourceFile& file = files.front();
  const YamlJsonDocument document =
      with_torchtune_overrides(parse_like_python_yaml(file.text, file.name), given.settings);
  take_commented_run(file, given, draft.extent, report);
  return read_tune_document(document, given, std::move(draft), report);
}

}  // namespace stepwright::framework_files
