#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/forms/parents.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/launchers/configured.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/rl/nemo_rl_method.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<DType> kNemoRlPrecisions[] = {
    {DType::kBf16, "bfloat16"}, {DType::kFp16, "float16"}, {DType::kFp32, "float32"}};

/// Merges the configuration over those that it names, in whichever order they are given:
/// NVIDIA-NeMo/RL nemo_rl/utils/config.py, load_config_with_inheritance.
YamlJsonDocument laid_together(Sources files) {
  static constexpr ParentConfigurationKey kDefaults[] = {{.name = "defaults"}};
  const SourceFile& top = configuration_file_without_child(files, kDefaults);
  MergedConfiguration laid = merge_with_parent_files(top, files, kDefaults);
  if (laid.together.size() < files.size()) {
    fail_input(fmt::format("{}: names no other of the given files under defaults", top.name));
  }
  return YamlJsonDocument::from_tree(std::move(laid.tree), top.name);
}

/// Reads the ranks that train, which are those that generation on separate devices leaves. Returns
/// the number of separate devices.
std::int64_t read_cluster(const FrameworkSettingsReader& root, JobRankCounts& extent) {
  const FrameworkSettingsReader cluster = root.nested_settings("cluster");
  extent.nodes = cluster.size("num_nodes");
  extent.devices_of_node = cluster.size("gpus_per_node");
  const FrameworkSettingsReader colocated =
      root.nested_settings("policy").nested_settings("generation").nested_settings("colocated");
  if (colocated.flag("enabled", true) || !extent.nodes) return 0;
  const FrameworkSettingsReader own = colocated.nested_settings("resources");
  const std::int64_t nodes = own.integer("num_nodes", 0);
  if (*extent.nodes > 1 && nodes < *extent.nodes) {
    *extent.nodes -= nodes;
    return nodes * extent.devices_of_node.value_or(0);
  }
  const auto devices = own.size("gpus_per_node");
  if (!devices || !extent.devices_of_node) return 0;
  *extent.devices_of_node = std::max<std::int64_t>(1, *extent.devices_of_node - *devices);
  return *devices;
}

PlanDraft read_dtensor(const FrameworkSettingsReader& root, const std::string& file,
                       const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.framework.name = "fsdp";
  draft.framework_overlap = true;
  const FrameworkSettingsReader policy = root.nested_settings("policy");
  const FrameworkSettingsReader config = policy.nested_settings("dtensor_cfg");
  plan::Plan& plan = draft.plan;
  plan.parallel.tensor = config.integer("tensor_parallel_size", 1);
  plan.parallel.context = config.integer("context_parallel_size", 1);
  plan.parallel.expert = config.integer("expert_parallel_size", 1);
  plan.sequence_parallel = plan.parallel.tensor > 1 && config.flag("sequence_parallel", false);
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  plan.sharding = plan::sharding_named_by_word("GGG").value();
  // Workers in nemo_rl/models/policy (dtensor) use FSDP's CPUOffloadPolicy.
  if (config.flag("cpu_offload", false)) {
    set_fsdp_host_offload(make_unread_setting(*config.find("cpu_offload")), draft, report);
  }
  if (config.flag("activation_checkpointing", false))
    plan.recompute.kind = plan::RecomputeKind::kFull;
  draft.precision = policy.choice("precision", kNemoRlPrecisions, DType::kBf16);
  plan.accumulate = DType::kFp32;
  draft.batch.sequences = policy.size("train_global_batch_size");
  draft.batch.length = policy.size("max_total_sequence_length");
  plan.micro_batch = policy.integer("train_micro_batch_size", 1);
  report_read_and_unread_settings(root, file, known_program_settings("rl/nemo_rl"), report);
  return draft;
}

void read_policy_recompute(const FrameworkSettingsReader& config, DocumentTree& fields) {
  if (!config.flag("activation_checkpointing", false)) return;
  const auto granularity = config.find("recompute_granularity");
  fields.set("recompute_granularity",
             granularity ? copy_tree_with_file_positions(*granularity) : DocumentTree("full"));
  if (const auto modules = config.find("recompute_modules")) {
    fields.set("recompute_modules", copy_tree_with_file_positions(*modules));
  }
}

/// Fails if a parent file decides degrees and was not given.
void check_parent(const FrameworkSettingsReader& root, const FrameworkSettingsReader& config,
                  std::span<const std::string_view> degrees) {
  const auto parent = root.node().find("defaults");
  if (!parent || !parent->is_scalar() || parent->is_null()) return;
  for (const std::string_view degree : degrees) {
    if (config.node().find(degree)) continue;
    parent->fail(fmt::format("names the file that says {}: give it, too", degree));
  }
}

/// Sets the kernels in which NeMo-RL's policy differs from Megatron-Core, also if the plan is one
/// that the variant refuses.
void take_kernels(PartialPlan& settled) {
  const plan::FrameworkKernels usual = plan::framework_defaults(settled.framework).kernels;
  const plan::TrainingFramework own{.name = settled.framework.name, .variant = "nemo-rl"};
  const plan::FrameworkKernels kernels = plan::framework_defaults(own).kernels;
  for (const auto& [flag, name] : plan::kKernelFlagNames) {
    if (kernels.*flag != usual.*flag) settled.kernels.emplace_back(flag, kernels.*flag);
  }
}

PlanDraft read_megatron_policy(const FrameworkSettingsReader& root, const std::string& file,
                               const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.framework.name = "megatron-core";
  const FrameworkSettingsReader policy = root.nested_settings("policy");
  const FrameworkSettingsReader config = policy.nested_settings("megatron_cfg");
  static constexpr std::string_view kDegrees[] = {"tensor_model_parallel_size",
                                                  "pipeline_model_parallel_size"};
  check_parent(root, config, kDegrees);
  MegatronFieldSources text{
      .said = flat_megatron_settings(root.node(), megatron_field_paths("rl/nemo_rl")),
      .program = "NeMo-RL"};
  const DType precision = policy.choice("precision", kNemoRlPrecisions, DType::kBf16);
  text.derived.set("precision", precision == DType::kBf16   ? "bf16"
                                : precision == DType::kFp16 ? "fp16"
                                                            : "fp32");
  read_policy_recompute(config, text.derived);
  const FrameworkSettingsReader eight = config.nested_settings("fp8_cfg");
  if (eight.flag("enabled", false)) {
    text.derived.set("fp8", eight.word("fp8", "hybrid"));
    text.derived.set("fp8_recipe", eight.word("fp8_recipe", "delayed"));
    text.derived.set("fp8_param_gather", eight.flag("fp8_param", false));
  }
  draft = read_plan_from_megatron_fields(text, root, known_program_settings("rl/nemo_rl"), given,
                                         std::move(draft), report, file);
  take_kernels(draft);
  return draft;
}

/// Reads the packers of NVIDIA-NeMo/RL nemo_rl/data/packing/algorithms.py; their batches count
/// answers. `shard_by_batch_size` packs those of one update
/// (nemo_rl/distributed/batched_data_dict.py). Sequences are padded to the longest only with a
/// pipeline (nemo_rl/models/megatron/data.py).
void read_sequence_packing(const FrameworkSettingsReader& policy, const UserFacts& given,
                           StatedStepBatch& batch) {
  struct Packer {
    packing::PackingKind kind = packing::PackingKind::kFirstFit;
    packing::PackingOrder order = packing::PackingOrder::kLongestFirst;
  };
  static constexpr Named<Packer> kPackers[] = {
      {{}, "modified_first_fit_decreasing"},
      {{}, "first_fit_decreasing"},
      {{.order = packing::PackingOrder::kAsTheyCome}, "first_fit_shuffle"},
      {{.kind = packing::PackingKind::kGreedy}, "concatenative"}};
  const FrameworkSettingsReader section = policy.nested_settings("sequence_packing");
  StatedDocumentPacking words = {.packing = {.too_long = packing::LongDocumentPolicy::kDrop},
                                 .batch_of_documents = true};
  if (packs_documents(section, "enabled", given)) {
    const Packer packer = section.choice("algorithm", kPackers, Packer{});
    words.packing.kind = packer.kind;
    words.packing.order = packer.order;
    words.packing.group = policy.integer("train_global_batch_size", 0);
    const FrameworkSettingsReader config = policy.nested_settings("megatron_cfg");
    const bool piped =
        config.flag("enabled", false) && config.integer("pipeline_model_parallel_size", 1) > 1;
    words.packing.pad_to = piped ? packing::PaddingTarget::kLength : packing::PaddingTarget::kNone;
  }
  set_user_document_packing(section, "enabled", words, given, batch);
}

/// Doubles the batch for preference pairs, which nemo_rl/algorithms/dpo.py and rm.py count as one.
void read_pairs(const FrameworkSettingsReader& root, PartialPlan& settled, StatedStepBatch& batch,
                ImportReport& report) {
  const auto rewards = root.node().find("rm");
  const bool ranks = rewards && rewards->is_mapping();
  if (ranks || settled.method.kind == plan::TrainingMethodKind::kDpo)
    double_preference_pair_batch(settled.plan, batch, report);
}

/// Reads the policy from the section that is enabled.
PlanDraft read_policy(const FrameworkSettingsReader& root, const std::string& file,
                      const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const FrameworkSettingsReader policy = root.nested_settings("policy");
  if (policy.nested_settings("megatron_cfg").flag("enabled", false)) {
    return read_megatron_policy(root, file, given, std::move(draft), report);
  }
  if (policy.nested_settings("dtensor_cfg").flag("enabled", false)) {
    return read_dtensor(root, file, given, std::move(draft), report);
  }
  root.node().fail(
      "enables neither policy.megatron_cfg nor policy.dtensor_cfg; give the file that its defaults "
      "name, too");
  return draft;
}

}  // namespace

PlanDraft read_nemo_rl(Sources files, const UserFacts& given, PlanDraft draft,
                       ImportReport& report) {
  if (is_shell_script(files.front())) {
    static constexpr std::string_view kOptions[] = {"--config"};
    const ConfigurationFileRun run =
        read_run_from_configuration_files(files, given,
                                          {.framework = "NeMo-RL",
                                           .arguments = "--config FILE.yaml NAME=VALUE",
                                           .target = "nemo-rl",
                                           .options = kOptions,
                                           .overrides = true,
                                           .hydra = true},
                                          draft.extent, draft.start, report);
    // Ray starts the ranks that the configuration states.
    draft.extent.ranks = draft.extent.nodes = draft.extent.devices_of_node = std::nullopt;
    return read_nemo_rl(run.files, run.given, std::move(draft), report);
  }
  const YamlJsonDocument document = resolve_configuration_references(
      with_user_settings(laid_together(files), given), report.notes);
  const std::string& file = document.document_name();
  const FrameworkSettingsReader root(document.root());
  const FrameworkSettingsReader policy = root.nested_settings("policy");
  set_built_in_model(policy.word("model_name", ""), given, draft, report);
  draft.method = nemo_rl_training_method(root, read_cluster(root, draft.extent));
  read_sequence_packing(policy, given, draft.batch);
  draft = read_policy(root, file, given, std::move(draft), report);
  read_pairs(root, draft, draft.batch, report);
  return draft;
}

}  // namespace stepwright::framework_files
