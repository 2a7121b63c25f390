#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/framework_files/torchtitan/python_form.h"
#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright::framework_files {
namespace {

bool is_toml(const plan::PlannedJob& planned) {
  const std::string& release = planned.job.framework.version;
  return plan::is_earlier_release(release, kTorchtitanPythonConfigRelease);
}

/// Returns the number of ranks over which parameters are replicated; the rest of data x context
/// shards them.
std::int64_t replicas(const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  if (plan.sharding.uses(plan::StateShardingScope::kInner)) {
    return ranks / plan.sharding.group;
  }
  return plan.sharding.uses(plan::StateShardingScope::kGlobal) ? 1 : plan.parallel.data;
}

std::vector<std::vector<std::string>> modules_of(const plan::PlannedJob& planned, bool toml) {
  std::vector<std::vector<std::string>> parts;
  std::int64_t layer = 0;
  for (const std::int64_t count : plan::layers_per_chunk(planned.job, planned.plan)) {
    std::vector<std::string>& part = parts.emplace_back();
    if (parts.size() == 1) part.emplace_back("tok_embeddings");
    for (std::int64_t i = 0; i < count; ++i) part.push_back(fmt::format("layers.{}", layer++));
  }
  parts.back().insert(parts.back().end(), {"norm", toml ? "output" : "lm_head"});
  return parts;
}

void add_pipeline(DocumentTree& values, const plan::PlannedJob& planned, bool toml) {
  const plan::Plan& plan = planned.plan;
  if (plan.parallel.pipeline == 1) return;
  values.set("pipeline_parallel_degree", plan.parallel.pipeline);
  values.set("pipeline_parallel_schedule", name_of(kTitanSchedules, plan.schedule.kind));
  values.set("pipeline_parallel_microbatch_size", plan.micro_batch);
  DocumentTree parts = DocumentTree::make_empty_sequence();
  for (const auto& part : modules_of(planned, toml))
    parts.add(DocumentTree::empty_flow_sequence(part));
  values.set("module_fqns_per_model_part", parts);
}

TitanConfigurationSection parallelism(const plan::PlannedJob& planned, bool toml) {
  const plan::Plan& plan = planned.plan;
  const plan::ParallelismDegrees& degrees = plan.parallel;
  TitanConfigurationSection section{"parallelism"};
  const std::int64_t copies = replicas(planned);
  section.values.set("data_parallel_replicate_degree", copies);
  section.values.set("data_parallel_shard_degree", degrees.data / copies);
  if (plan.sharding.optimizer != plan::StateShardingScope::kNone) {
    section.values.set(
        "fsdp_reshard_after_forward",
        plan.sharding.parameters == plan::StateShardingScope::kNone ? "never" : "always");
  }
  section.values.set("tensor_parallel_degree", degrees.tensor);
  if (!toml && degrees.tensor > 1) {
    section.values.set("enable_sequence_parallel", plan.sequence_parallel);
  }
  if (toml && planned.job.kernels.gathered_logits && degrees.tensor > 1) {
    section.values.set("disable_loss_parallel", true);
  }
  if (toml && plan.overlap.tensor && degrees.tensor > 1) {
    section.values.set("enable_async_tensor_parallel", true);
  }
  section.values.set("context_parallel_degree", degrees.context);
  if (toml && degrees.context > 1) {
    section.values.set("context_parallel_rotate_method",
                       name_of(kRotateMethods, plan.context_kind));
  }
  add_pipeline(section.values, planned, toml);
  if (!planned.job.model.experts) return section;
  section.values.set("expert_parallel_degree", degrees.expert);
  if (!toml) return section;
  section.values.set("expert_tensor_parallel_degree", degrees.expert_tensor);
  section.values.set(
      "expert_parallel_comm_backend",
      planned.job.dispatcher == plan::TokenDispatcher::kOncePerNode ? "deepep" : "standard");
  return section;
}

TitanConfigurationSection training(const plan::PlannedJob& planned, bool toml) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  TitanConfigurationSection section{"training"};
  // With a pipeline the local batch is divided into micro-batches; without one, gradients
  // accumulate.
  const bool piped = plan.parallel.pipeline > 1;
  const std::int64_t local = piped ? job.sequences / plan.parallel.data : plan.micro_batch;
  section.values.set("local_batch_size", local);
  section.values.set("global_batch_size", job.sequences);
  section.values.set("seq_len", job.length);
  if (!toml && !job.kernels.cuda_graphs.step) section.values.set("disable_cuda_graphs", true);
  const bool wide = job.precision == DType::kFp32;
  section.values.set("mixed_precision_param", wide ? "float32" : "bfloat16");
  const bool in_place = job.kernels.masters == plan::MasterWeights::kNone;
  if (in_place) section.values.set("dtype", "bfloat16");
  const bool narrow = in_place && plan.accumulate == DType::kBf16;
  section.values.set("mixed_precision_reduce", narrow ? "bfloat16" : "float32");
  if (needs_fsdp_cpu_offload(plan)) section.values.set("enable_cpu_offload", true);
  return section;
}

/// Fails if a context rank would not get whole blocks of FlexAttention's mask: pytorch/pytorch 2.13
/// torch/distributed/tensor/experimental/_context_parallel/_attention.py.
void check_context_blocks(const plan::PlannedJob& planned) {
  constexpr std::int64_t kBlock = 128;
  const std::int64_t context = planned.plan.parallel.context;
  if (context == 1 || planned.job.length % (context * kBlock) == 0) return;
  fail_unsupported(fmt::format(
      "batch.length {}: torchtitan's context parallelism needs a multiple of {} x {} (context)",
      planned.job.length, kBlock, context));
}

std::string toml_text(const std::vector<TitanConfigurationSection>& sections) {
  std::string text;
  for (const TitanConfigurationSection& section : sections) {
    text += fmt::format("\n[{}]\n", section.name);
    for (const auto& [key, value] : tree_members(section.values)) {
      text += fmt::format("{} = {}\n", key, torchtitan_config_value_text(value, false));
    }
  }
  return text;
}

TitanConfigurationSection model_section(const plan::PlannedJob& planned) {
  TitanConfigurationSection section{"model"};
  const std::optional<TitanModelFlavor> flavor = torchtitan_flavor_of_model(planned.job.model_name);
  section.values.set("name", flavor ? flavor->name : "llama3");
  section.values.set("flavor", flavor ? flavor->flavor : std::string_view(planned.job.model_name));
  const bool blocks = planned.job.precision == DType::kMxfp8;
  if (blocks || planned.job.precision == DType::kFp8) {
    section.values.set("converters", DocumentTree::empty_flow_sequence().add(
                                         blocks ? "quantize.linear.mx" : "quantize.linear.float8"));
  }
  return section;
}

TitanConfigurationSection checkpointing(const plan::Plan& plan) {
  TitanConfigurationSection section{"activation_checkpoint"};
  const bool every = plan.recompute.kind == plan::RecomputeKind::kEvery;
  const bool by_operator = plan.recompute.modules == plan::kPerOperator;
  section.values.set("mode", every || by_operator                                ? "selective"
                             : plan.recompute.kind == plan::RecomputeKind::kFull ? "full"
                                                                                 : "none");
  if (every) {
    section.values.set("selective_ac_option",
                       DocumentTree::make_scalar(std::to_string(plan.recompute.every), true));
  }
  if (by_operator) section.values.set("selective_ac_option", DocumentTree::make_scalar("op", true));
  return section;
}

}  // namespace

std::string torchtitan_lacks(const plan::PlannedJob& planned) {
  const bool known = torchtitan_flavor_of_model(planned.job.model_name).has_value();
  if (known || (!is_toml(planned) && titan_supports_model(planned.job.model))) return "";
  return fmt::format("torchtitan has no flavor {}: register one of these sizes: {}",
                     planned.job.model_name, model::inline_model_mapping(planned.job.model).dump());
}

std::string write_torchtitan(const plan::PlannedJob& planned,
                             const std::vector<std::string>& header) {
  const bool toml = is_toml(planned);
  if (!toml) {
    check_context_blocks(planned);
    return shell_comment_lines(header) +
           titan_python_module_text(planned, training(planned, false), parallelism(planned, false));
  }
  std::vector<TitanConfigurationSection> sections = {
      model_section(planned), training(planned, true), parallelism(planned, true),
      checkpointing(planned.plan)};
  TitanConfigurationSection optimizer{"optimizer"};
  optimizer.values.set("name", "AdamW");
  sections.push_back(optimizer);
  if (planned.plan.overlap.tensor && planned.plan.parallel.tensor > 1) {
    TitanConfigurationSection compile{"compile"};
    compile.values.set("enable", true);
    sections.push_back(compile);
  }
  return shell_comment_lines(header) + toml_text(sections);
}

}  // namespace stepwright::framework_files
