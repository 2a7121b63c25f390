#include "stepwright/framework_files/huggingface/accelerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/training_code_comment.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<plan::ContextKind> kCpStrategies[] = {{plan::ContextKind::kAllGather, "allgather"},
                                                      {plan::ContextKind::kRing, "alltoall"}};
constexpr Named<DType> kAcceleratePrecisions[] = {
    {DType::kBf16, "bf16"}, {DType::kFp16, "fp16"}, {DType::kFp8, "fp8"}, {DType::kFp32, "no"}};

bool is_plain_ddp(const plan::Plan& plan) { return plan::sharding_letters(plan.sharding) == "NNN"; }
bool is_zero_one(const plan::Plan& plan) { return plan::sharding_letters(plan.sharding) == "NNG"; }

DocumentTree parallelism_section(const plan::Plan& plan) {
  const plan::ParallelismDegrees& degrees = plan.parallel;
  const bool inner = plan.sharding.uses(plan::StateShardingScope::kInner);
  const std::int64_t ranks = degrees.data * degrees.context;
  const std::int64_t copies = inner ? ranks / plan.sharding.group : 1;
  DocumentTree section = DocumentTree::make_empty_mapping();
  if (degrees.tensor == 1 && degrees.context == 1 && copies == 1) return section;
  section.set("parallelism_config_dp_replicate_size", copies);
  section.set("parallelism_config_dp_shard_size", degrees.data / copies);
  section.set("parallelism_config_tp_size", degrees.tensor);
  section.set("parallelism_config_cp_size", degrees.context);
  if (degrees.context > 1) {
    section.set("parallelism_config_cp_comm_strategy", name_of(kCpStrategies, plan.context_kind));
  }
  return section;
}

DocumentTree deepspeed_section(const plan::PlannedJob& planned) {
  DocumentTree section = DocumentTree::make_empty_mapping();
  section.set("zero_stage", 1);
  section.set("gradient_accumulation_steps",
              plan::micro_batches_per_pipeline(planned.job, planned.plan));
  section.set("zero3_init_flag", false);
  section.set("offload_optimizer_device", needs_fsdp_cpu_offload(planned.plan) ? "cpu" : "none");
  return section;
}

constexpr int kUsualStage = 2;

/// Accelerate's keys that offload states to the host, and the DeepSpeed sections that they set;
/// huggingface/accelerate src/accelerate/utils/dataclasses.py: DeepSpeedPlugin.
constexpr std::pair<std::string_view, std::string_view> kOffloadKeys[] = {
    {"offload_optimizer_device", "offload_optimizer"}, {"offload_param_device", "offload_param"}};

}  // namespace

std::string write_accelerate(const plan::PlannedJob& planned,
                             const std::vector<std::string>& header) {
  const plan::Plan& plan = planned.plan;
  const cluster::Cluster& cluster = planned.job.cluster;
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("compute_environment", "LOCAL_MACHINE");
  file.set("distributed_type", is_plain_ddp(plan)  ? "MULTI_GPU"
                               : is_zero_one(plan) ? "DEEPSPEED"
                                                   : "FSDP");
  file.set("mixed_precision",
           DocumentTree::make_scalar(
               std::string(name_of(kAcceleratePrecisions, planned.job.precision)), true));
  file.set("num_machines", cluster.nodes);
  file.set("num_processes", cluster.devices());
  file.set("machine_rank", 0);
  file.set("main_training_function", "main");
  const bool recomputes = plan.recompute.kind == plan::RecomputeKind::kFull;
  const bool is_fsdp = !is_zero_one(plan) && !is_plain_ddp(plan);
  if (is_zero_one(plan)) {
    file.set("deepspeed_config", deepspeed_section(planned));
  } else if (is_fsdp) {
    file.set("fsdp_config", fsdp_config_tree(plan, recomputes));
    // Without degrees, FSDP shards states over all ranks.
    DocumentTree degrees = parallelism_section(plan);
    if (!degrees.items.empty()) file.set("parallelism_config", std::move(degrees));
  }
  return shell_comment_lines(header) +
         training_code_settings_comment(planned, recomputes && !is_fsdp) +
         YamlJsonDocument::from_tree(file, "accelerate").to_yaml();
}

void read_accelerate_parallelism(const FrameworkSettingsReader& section,
                                 TrainerDistribution& trainer, plan::Plan& plan) {
  const auto find = [&](std::string_view key) {
    const auto value = section.find(fmt::format("parallelism_config_{}", key));
    return value ? value : section.find(key);
  };
  const auto size = [&](std::string_view key) -> std::optional<std::int64_t> {
    const auto value = find(key);
    return value ? std::optional(value->integer(1, kMaxIntegerSetting)) : std::nullopt;
  };
  plan::ParallelismDegrees& degrees = plan.parallel;
  degrees.tensor = size("tp_size").value_or(degrees.tensor);
  degrees.context = size("cp_size").value_or(degrees.context);
  if (const auto kind = find("cp_comm_strategy")) {
    plan.context_kind = kind->choice(kCpStrategies);
  } else if (degrees.context > 1 && find("cp_size")) {
    plan.context_kind = plan::ContextKind::kAllGather;
  }
  const auto ulysses = size("sp_size");
  if (ulysses && *ulysses > 1) {
    if (degrees.context > 1) find("sp_size")->fail("cannot be given together with a context size");
    degrees.context = *ulysses;
    plan.context_kind = plan::ContextKind::kUlysses;
  }
  const auto copies = size("dp_replicate_size");
  const auto share = size("dp_shard_size");
  if (copies) trainer.copies = *copies;
  // If all degrees are 1, all ranks belong to plain data parallelism.
  if (share || copies) trainer.share = share.value_or(1);
  if (degrees.tensor * degrees.context * copies.value_or(1) * trainer.share.value_or(1) == 1) {
    trainer.share.reset();
  }
}

namespace {

/// True if a configuration names a separate configuration file of DeepSpeed.
bool names_deepspeed(const FrameworkSettingsReader& root) {
  return root.nested_settings("deepspeed_config").has("deepspeed_config_file");
}

/// Reports that FSDP gathers the whole model at once if no setting says which layers it wraps:
/// src/accelerate/utils/dataclasses.py: FullyShardedDataParallelPlugin.
void list_unwrapped(const FrameworkSettingsReader& section, DocumentNode type,
                    ImportReport& report) {
  constexpr std::string_view kWhy =
      "that the whole model is gathered at once: the plan gathers each layer for itself";
  for (const std::string_view key : {"fsdp_auto_wrap_policy", "auto_wrap_policy"}) {
    const auto policy = section.find(key);
    if (!policy || policy->is_null()) continue;
    if (policy->text() == "NO_WRAP") report.add_unmodelled_setting(*policy, std::string(kWhy));
    return;
  }
  SettingNotInPlan setting = make_unread_setting(type);
  setting.name = "fsdp_config.fsdp_auto_wrap_policy";
  setting.value = "NO_WRAP";
  setting.matters = SettingImpact::kYes;
  setting.why = kWhy;
  report.not_read.push_back(std::move(setting));
}

/// Reads numbers of nodes and ranks, and which states the ranks shard.
void read_launch(const FrameworkSettingsReader& root, TrainerDistribution& trainer,
                 plan::Plan& plan, JobRankCounts& extent, ImportReport& report) {
  static constexpr std::array<std::string_view, 5> kTypes = {"FSDP", "DEEPSPEED", "MEGATRON_LM",
                                                             "MULTI_GPU", "NO"};
  if (const auto nodes = root.size("num_machines")) extent.nodes = nodes;
  if (const auto ranks = root.size("num_processes")) extent.ranks = ranks;
  const std::string type = root.word("distributed_type", "NO");
  if (root.has("distributed_type") && type == "NO") {
    // simple_launcher in src/accelerate/commands/launch.py starts one process, whatever
    // num_processes is.
    extent.ranks = extent.nodes = 1;
    report.add_assumption("job.cluster", "distributed_type NO starts one process");
  }
  if (std::ranges::find(kTypes, type) == kTypes.end()) {
    root.find("distributed_type")
        ->fail_unsupported("is only supported as FSDP, DEEPSPEED, MEGATRON_LM, MULTI_GPU or NO");
  }
  read_accelerate_parallelism(root.nested_settings("parallelism_config"), trainer, plan);
  if (type != "FSDP") return;
  const FrameworkSettingsReader section = root.nested_settings("fsdp_config");
  // The default of fsdp_version is 1: src/accelerate/utils/dataclasses.py.
  trainer.fsdp = read_fsdp_section(section, {.states = "GGG", .mesh = false});
  list_unwrapped(section, *root.find("distributed_type"), report);
}

void read_megatron_section(const FrameworkSettingsReader& root, plan::Plan& plan,
                           StatedStepBatch& batch) {
  static constexpr Named<plan::RecomputeKind> kKinds[] = {
      {plan::RecomputeKind::kSelective, "selective"}, {plan::RecomputeKind::kFull, "full"}};
  const FrameworkSettingsReader section = root.nested_settings("megatron_lm_config");
  plan.parallel.tensor = section.integer("megatron_lm_tp_degree", 1);
  plan.parallel.pipeline = section.integer("megatron_lm_pp_degree", 1);
  plan.parallel.context = section.integer("megatron_lm_context_parallel_size", 1);
  plan.parallel.expert = section.integer("megatron_lm_expert_model_parallel_size", 1);
  plan.parallel.expert_tensor = section.integer("megatron_lm_expert_tensor_parallel_size", 1);
  batch.micro_batches = section.size("megatron_lm_num_micro_batches");
  plan.sequence_parallel = section.flag("megatron_lm_sequence_parallelism", false);
  if (section.flag("megatron_lm_recompute_activations", false)) {
    plan.recompute.kind = plan::RecomputeKind::kSelective;
  }
  plan.recompute.kind =
      section.choice("megatron_lm_recompute_granularity", kKinds, plan.recompute.kind);
  if (section.flag("megatron_lm_use_distributed_optimizer", false)) {
    plan.sharding = plan::sharding_named_by_word("NNG").value();
  }
}

/// Returns the DeepSpeed configuration that Accelerate makes from a section; huggingface/accelerate
/// src/accelerate/utils/dataclasses.py: DeepSpeedPlugin.__post_init__.
YamlJsonDocument deepspeed_of_section(const FrameworkSettingsReader& root,
                                      const std::string& name) {
  const FrameworkSettingsReader section = root.nested_settings("deepspeed_config");
  const auto stage = section.find("zero_stage");
  DocumentTree zero = DocumentTree::make_empty_mapping();
  zero.set("stage", stage ? stage->copy_tree_with_file_positions() : DocumentTree(kUsualStage));
  for (const auto& [key, place] : kOffloadKeys) {
    static constexpr Named<bool> kDevices[] = {{false, "none"}, {true, "cpu"}, {false, "nvme"}};
    const auto device = section.node().find(key);
    if (!device || device->is_null() || !device->choice(kDevices)) continue;
    zero.set(place, DocumentTree::make_empty_mapping().set(
                        "device", section.find(key)->copy_tree_with_file_positions()));
  }
  DocumentTree config = DocumentTree::make_empty_mapping();
  config.set("zero_optimization", zero);
  if (const auto steps = section.find("gradient_accumulation_steps")) {
    config.set("gradient_accumulation_steps", steps->copy_tree_with_file_positions());
  }
  return YamlJsonDocument::from_tree(std::move(config), name);
}

void read_zero_section(const FrameworkSettingsReader& root, const std::string& name,
                       plan::Plan& plan, StatedStepBatch& batch, ImportReport& report) {
  static constexpr std::array<std::string_view, 4> kStages = {"NNN", "NNG", "NGG", "GGG"};
  const YamlJsonDocument made = deepspeed_of_section(root, name);
  const FrameworkSettingsReader zero =
      FrameworkSettingsReader(made.root()).nested_settings("zero_optimization");
  const auto stage = static_cast<int>(zero.find("stage")->integer(0, 3));
  plan.sharding = plan::sharding_named_by_word(kStages[static_cast<std::size_t>(stage)]).value();
  const auto steps = root.nested_settings("deepspeed_config").size("gradient_accumulation_steps");
  if (steps) batch.micro_batches = steps;
  read_deepspeed_offload(zero, stage, plan, report);
}

/// Reads the precision as the launcher does, without regard to case.
DType precision_of(FrameworkSettingsReader root) {
  std::string word = root.word("mixed_precision", "no");
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& [precision, name] : kAcceleratePrecisions) {
    if (word == name) return precision;
  }
  return root.choice("mixed_precision", kAcceleratePrecisions, DType::kFp32);
}

}  // namespace

void read_accelerate_configuration(const TransformersProgramFiles& files,
                                   TrainerDistribution& trainer, PartialPlan& settled,
                                   JobRankCounts& extent, ImportReport& report) {
  const SourceFile& file = files.accelerate != nullptr ? *files.accelerate : *files.program;
  YamlJsonDocument said =
      files.accelerate != nullptr
          ? parse_like_python_yaml(file.text, file.name)
          : YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping(), file.name);
  const YamlJsonDocument document = with_user_settings(std::move(said), {.settings = files.launch});
  const FrameworkSettingsReader root(document.root());
  read_launch(root, trainer, settled.plan, extent, report);
  if (root.has("megatron_lm_config")) {
    root.find("megatron_lm_config")
        ->fail_unsupported("is not read together with transformers' Trainer");
  }
  const DType precision = precision_of(root);
  if (settled.precision == DType::kFp32) settled.precision = precision;
  if (names_deepspeed(root) && !trainer.deepspeed) {
    root.nested_settings("deepspeed_config")
        .find("deepspeed_config_file")
        ->fail("names a configuration of DeepSpeed: give its file, too");
  }
  if (root.word("distributed_type", "NO") == "DEEPSPEED" && !trainer.deepspeed) {
    trainer.deepspeed = deepspeed_of_section(root, file.name);
  }
  report_read_and_unread_settings(root, file.name, known_program_settings("huggingface/accelerate"),
                                  report);
}

PlanDraft read_accelerate(Sources files, const UserFacts& given, PlanDraft draft,
                          ImportReport& report) {
  const TransformersProgramFiles sorted = sort_transformers_files(files);
  if (sorted.accelerate == nullptr || sorted.program != nullptr) {
    fail_input(fmt::format("{}: is not a configuration of Accelerate (distributed_type: ...){}",
                           sorted.program != nullptr ? sorted.program->name : sorted.name,
                           sorted.accelerate != nullptr ? ": --from hf reads both" : ""));
  }
  const SourceFile& file = *sorted.accelerate;
  const YamlJsonDocument document =
      with_user_settings(parse_like_python_yaml(file.text, file.name), given);
  const FrameworkSettingsReader root(document.root());
  if (sorted.model) draft.model = model::read_huggingface_config(*sorted.model, &report.notes);
  TrainerDistribution trainer;
  draft.precision = precision_of(root);
  read_launch(root, trainer, draft.plan, draft.extent, report);
  const bool named = names_deepspeed(root);
  if (sorted.deepspeed != nullptr || named) {
    if (sorted.deepspeed == nullptr) {
      fail_input(
          fmt::format("{}: names a file of DeepSpeed: give both, this one first", file.name));
    }
    draft.framework.name = "deepspeed";
    report_read_and_unread_settings(root, file.name,
                                    known_program_settings("huggingface/accelerate"), report);
    TrainerAutoValues values;
    if (root.has("mixed_precision")) values.precision = draft.precision;
    if (given.known_model) values.hidden = given.known_model->hidden;
    return read_deepspeed_configuration(
        parse_like_python_yaml(sorted.deepspeed->text, sorted.deepspeed->name), given,
        std::move(draft), report, &values);
  }
  const std::string type = root.word("distributed_type", "NO");
  if (type == "MEGATRON_LM") {
    draft.framework.name = "megatron-lm";
    read_megatron_section(root, draft.plan, draft.batch);
  }
  draft.framework_overlap = draft.framework_gradients = true;
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file.name);
  draft = read_training_code_comment(file, given, std::move(draft), report);
  if (type != "MEGATRON_LM") {
    apply_fsdp_options(trainer.fsdp,
                       data_parallel_replica_count(trainer, draft.plan, draft.extent, file.name),
                       draft, draft.extent, report);
  }
  if (type == "DEEPSPEED") read_zero_section(root, file.name, draft.plan, draft.batch, report);
  report_read_and_unread_settings(root, file.name, known_program_settings("huggingface/accelerate"),
                                  report);
  return draft;
}

}  // namespace stepwright::framework_files
