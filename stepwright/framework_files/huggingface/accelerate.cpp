#include "stepwright/framework_files/huggingface/accelerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/code_notes.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/settings.h"
#include "stepwright/framework_files/launchers/torchrun.h"

namespace stepwright {
namespace {

constexpr Named<ContextKind> kCpStrategies[] = {{ContextKind::kAllGather, "allgather"},
                                                {ContextKind::kRing, "alltoall"}};
constexpr Named<DType> kAcceleratePrecisions[] = {
    {DType::kBf16, "bf16"}, {DType::kFp16, "fp16"}, {DType::kFp8, "fp8"}, {DType::kFp32, "no"}};

bool is_plain_ddp(const Plan& plan) { return sharding_word(plan.sharding) == "NNN"; }
bool is_zero_one(const Plan& plan) { return sharding_word(plan.sharding) == "NNG"; }

Tree fsdp_section(const Plan& plan) {
  Tree section = Tree::mapping();
  section.set("fsdp_version", 2);
  section.set("fsdp_reshard_after_forward", plan.sharding.parameters != Spread::kNone);
  section.set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  section.set("fsdp_activation_checkpointing", plan.recompute.kind == RecomputeKind::kFull);
  section.set("fsdp_offload_params", false);
  section.set("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  return section;
}

Tree parallelism_section(const Plan& plan) {
  const Parallel& degrees = plan.parallel;
  const bool inner = plan.sharding.uses(Spread::kInner);
  const std::int64_t ranks = degrees.data * degrees.context;
  const std::int64_t copies = inner ? ranks / plan.sharding.group : 1;
  Tree section = Tree::mapping();
  section.set("parallelism_config_dp_replicate_size", copies);
  section.set("parallelism_config_dp_shard_size", degrees.data / copies);
  section.set("parallelism_config_tp_size", degrees.tensor);
  section.set("parallelism_config_cp_size", degrees.context);
  if (degrees.context > 1) {
    section.set("parallelism_config_cp_comm_strategy", name_of(kCpStrategies, plan.context_kind));
  }
  return section;
}

Tree deepspeed_section(const PlannedJob& planned) {
  Tree section = Tree::mapping();
  section.set("zero_stage", 1);
  section.set("gradient_accumulation_steps", micro_batches(planned.job, planned.plan));
  section.set("zero3_init_flag", false);
  return section;
}

void read_fsdp_section(const Fields& root, const Fields& parallelism, Draft& draft) {
  Plan& plan = draft.plan;
  const Fields fsdp = root.section("fsdp_config");
  const std::int64_t copies = parallelism.integer("parallelism_config_dp_replicate_size", 1);
  if (plan.parallel.data % copies != 0) {
    parallelism.find("parallelism_config_dp_replicate_size")
        ->fail(fmt::format("must divide {} data-parallel ranks", plan.parallel.data));
  }
  // FSDP1 names a strategy, FSDP2 says whether parameters are released after the forward pass.
  const std::string again =
      fsdp.word("fsdp_reshard_after_forward", fsdp.word("fsdp_sharding_strategy", "true"));
  const bool released = again == "true" || again == "True" || again == "FULL_SHARD" ||
                        again == "HYBRID_SHARD" || again == "1";
  bool inner = copies > 1;
  std::int64_t group = plan.parallel.data / copies * plan.parallel.context;
  if (again.find("HYBRID") != std::string::npos) {
    inner = true;
    group = draft.cluster.devices_per_node;
    draft.notes.push_back("The sharding group is taken to be the devices of a node.");
  }
  plan.sharding =
      sharding_of(inner ? (released ? "III" : "NII") : (released ? "GGG" : "NGG")).value();
  if (inner) plan.sharding.group = group;
  if (fsdp.flag("fsdp_activation_checkpointing", false)) {
    plan.recompute.kind = RecomputeKind::kFull;
  }
}

void read_parallelism(const Fields& parallelism, Draft& draft) {
  Parallel& degrees = draft.plan.parallel;
  degrees.tensor = parallelism.integer("parallelism_config_tp_size", 1);
  degrees.context = parallelism.integer("parallelism_config_cp_size", 1);
  const std::int64_t ulysses = parallelism.integer("parallelism_config_sp_size", 1);
  if (ulysses > 1 && degrees.context > 1) {
    parallelism.find("parallelism_config_sp_size")->fail("goes without a context size; only one");
  }
  draft.plan.context_kind = parallelism.choice("parallelism_config_cp_comm_strategy", kCpStrategies,
                                               ContextKind::kAllGather);
  if (ulysses > 1) {
    degrees.context = ulysses;
    draft.plan.context_kind = ContextKind::kUlysses;
  }
}

void read_zero_section(const Fields& root, Draft& draft) {
  const Fields section = root.section("deepspeed_config");
  static constexpr std::array<std::string_view, 4> kStages = {"NNN", "NNG", "NGG", "GGG"};
  const auto given = section.find("zero_stage");
  const auto stage = static_cast<std::size_t>(given ? given->integer(0, 3) : 2);
  draft.plan.sharding = sharding_of(kStages[stage]).value();
  draft.micro_batches = section.size("gradient_accumulation_steps");
}

}  // namespace

std::string write_accelerate(const PlannedJob& planned, const std::vector<std::string>& header) {
  const Plan& plan = planned.plan;
  const Cluster& cluster = planned.job.cluster;
  Tree file = Tree::mapping();
  file.set("compute_environment", "LOCAL_MACHINE");
  file.set("distributed_type", is_plain_ddp(plan)  ? "MULTI_GPU"
                               : is_zero_one(plan) ? "DEEPSPEED"
                                                   : "FSDP");
  file.set("mixed_precision",
           Tree::scalar(std::string(name_of(kAcceleratePrecisions, planned.job.precision)), true));
  file.set("num_machines", cluster.nodes);
  file.set("num_processes", cluster.devices());
  file.set("machine_rank", 0);
  file.set("main_training_function", "main");
  if (is_zero_one(plan)) {
    file.set("deepspeed_config", deepspeed_section(planned));
  } else if (!is_plain_ddp(plan)) {
    file.set("fsdp_config", fsdp_section(plan));
    file.set("parallelism_config", parallelism_section(plan));
  }
  return comment_lines(header) + code_notes(planned) + Document::from(file, "accelerate").to_yaml();
}

void read_accelerate(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  const SourceFile& file = files.front();
  const Document document = with_settings(Document::parse(file.text, file.name), given);
  const Fields root(document.root());
  draft.nodes = root.size("num_machines");
  draft.ranks = root.size("num_processes");
  draft.precision = root.choice("mixed_precision", kAcceleratePrecisions, DType::kFp32);
  const Fields parallelism = root.section("parallelism_config");
  static constexpr std::array<std::string_view, 4> kTypes = {"FSDP", "DEEPSPEED", "MULTI_GPU",
                                                             "NO"};
  const std::string type = root.word("distributed_type", "NO");
  if (std::ranges::find(kTypes, type) == kTypes.end()) {
    root.find("distributed_type")
        ->fail_unsupported("is read where it is FSDP, DEEPSPEED, MULTI_GPU or NO");
  }
  if (files.size() > 1 || root.section("deepspeed_config").has("deepspeed_config_file")) {
    if (files.size() != 2) {
      fail_input(
          fmt::format("{}: names a file of DeepSpeed: give both, this one first", file.name));
    }
    draft.framework.name = "deepspeed";
    list_settings(root, file.name, kAccelerateSettings, draft.report);
    return read_deepspeed(files.subspan(1), given, draft);
  }
  draft.framework_overlap = draft.framework_gradients = true;
  read_parallelism(parallelism, draft);
  settle_ranks(draft, given, file.name);
  if (type == "FSDP") read_fsdp_section(root, parallelism, draft);
  if (type == "DEEPSPEED") read_zero_section(root, draft);
  read_code_notes(file, draft);
  list_settings(root, file.name, kAccelerateSettings, draft.report);
}

bool is_accelerate(const SourceFile& file) { return holds(file, "distributed_type:"); }

}  // namespace stepwright
