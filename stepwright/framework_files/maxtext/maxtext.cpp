#include "stepwright/framework_files/maxtext/maxtext.h"

#include <fmt/format.h>

#include <cmath>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/maxtext/words.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

MaxTextMeshSizes mesh_of(const plan::Plan& plan) {
  const plan::ParallelismDegrees& degrees = plan.parallel;
  MaxTextMeshSizes mesh{
      .pipeline = degrees.pipeline, .context = degrees.context, .expert = degrees.expert};
  (plan.sequence_parallel ? mesh.tensor_sequence : mesh.tensor) = degrees.tensor;
  const std::int64_t rest = degrees.data / degrees.expert;
  const plan::Sharding& sharding = plan.sharding;
  if (sharding.uses(plan::StateShardingScope::kInner)) {
    const std::int64_t inner = degrees.context * degrees.expert;
    mesh.fsdp = sharding.group / inner;
    mesh.data = rest / mesh.fsdp;
  } else if (sharding.parameters == plan::StateShardingScope::kGlobal) {
    mesh.fsdp = rest;
  } else {
    mesh.data = rest;
  }
  return mesh;
}

/// Sets each axis within nodes and across nodes; the first axes, in which neighbouring ranks
/// differ, fill the node.
void add_mesh(DocumentTree& file, const MaxTextMeshSizes& mesh, const cluster::Cluster& cluster) {
  std::int64_t room = cluster.devices_per_node;
  for (const auto& [name, size] : kMaxTextMeshAxes) {
    const std::int64_t degree = mesh.*size;
    const std::int64_t inside = std::min(degree, room);
    room /= inside;
    file.set(fmt::format("ici_{}_parallelism", name), inside);
    file.set(fmt::format("dcn_{}_parallelism", name), degree / inside);
  }
}

void add_model_sizes(DocumentTree& file, const model::ModelArchitecture& model) {
  file.set("decoder_block", model.experts ? "mixtral" : "llama2");
  file.set("base_emb_dim", model.hidden);
  file.set("base_num_decoder_layers", model.layers);
  file.set("base_num_query_heads", model.heads);
  file.set("base_num_kv_heads", model.kv_heads);
  file.set("head_dim", model.head_dim);
  file.set("base_mlp_dim", model.ffn > 0 || !model.experts ? model.ffn : model.experts->ffn);
  file.set("vocab_size", model.vocabulary);
  file.set("logits_via_embedding", model.tied);
  file.set("normalization_layer_epsilon", model.norm_epsilon);
  file.set("rope_max_timescale", static_cast<std::int64_t>(std::llround(model.rotary_base)));
  const bool llama3 =
      model.rotary_scaling && model.rotary_scaling->kind == model::RotaryScalingKind::kLlama3;
  if (llama3) file.set("rope_type", "llama3.1");
  file.set("dropout_rate", model.dropout);
  if (!model.experts) return;
  file.set("num_experts", model.experts->count);
  file.set("num_experts_per_tok", model.experts->top_k);
}

}  // namespace

std::string write_maxtext(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  const bool piped = plan.parallel.pipeline > 1;
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("base_config", "base.yml");
  file.set("hardware", "gpu_multiprocess");
  add_model_sizes(file, job.model);
  add_mesh(file, mesh_of(plan), job.cluster);
  const auto devices = static_cast<double>(job.cluster.devices());
  const std::int64_t pass = piped ? job.sequences : plan.micro_batch * plan.parallel.data;
  file.set("per_device_batch_size", static_cast<double>(pass) / devices);
  file.set("max_target_length", job.length);
  if (piped) {
    file.set("num_pipeline_microbatches", plan::micro_batches_per_pipeline(job, plan));
    file.set("num_pipeline_repeats", 1);
    file.set("num_layers_per_pipeline_stage", job.model.layers / plan.parallel.pipeline);
  } else {
    file.set("gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan));
  }
  if (plan::sharding_letters(plan.sharding) == "NNG") file.set("shard_optimizer_over_data", true);
  if (plan.parallel.context > 1) {
    file.set("context_parallel_strategy", name_of(kContextStrategies, plan.context_kind));
  }
  file.set("remat_policy", name_of(kWrittenPolicies, plan.recompute.kind));
  file.set("dtype", job.precision == DType::kFp32 ? "float32" : "bfloat16");
  if (job.precision == DType::kFp8) file.set("quantization", "fp8");
  if (job.kernels.masters == plan::MasterWeights::kNone) file.set("weight_dtype", "bfloat16");
  file.set("grad_dtype", name_of(kJaxTypes, plan.accumulate));
  file.set("attention", job.kernels.attention == cluster::AttentionKernel::kUnfused
                            ? "dot_product"
                            : "cudnn_flash_te");
  file.set("opt_type", job.optimizer == plan::Optimizer::kSgd ? "sgd" : "adamw");
  if (job.model.experts && job.dispatcher == plan::TokenDispatcher::kAllGather) {
    file.set("use_ring_of_experts", true);
  }
  return shell_comment_lines(header) + YamlJsonDocument::from_tree(file, "maxtext").to_yaml();
}

}  // namespace stepwright::framework_files
