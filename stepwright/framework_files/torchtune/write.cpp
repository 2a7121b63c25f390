#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/framework_files/torchtune/models.h"
#include "stepwright/model/parameters.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kPackage = "torchtune.";

std::string component(std::string_view name) { return fmt::format("{}{}", kPackage, name); }

/// Sets the builder of a model with adapters, and its arguments: torchtune/modules/peft/_utils.py,
/// LORA_ATTN_MODULES.
void add_tune_adapters(DocumentTree& model, const model::ModelArchitecture& architecture) {
  const model::LoraAdapters& adapters = *architecture.adapters;
  std::string builder = model.find("_component_")->text;
  builder.insert(builder.rfind('.') + 1, "lora_");
  model.set("_component_", builder);
  DocumentTree modules = DocumentTree::empty_flow_sequence();
  constexpr std::pair<model::LoraTargetProduct, std::string_view> kProducts[] = {
      {model::LoraTargetProduct::kQuery, "q_proj"},
      {model::LoraTargetProduct::kKey, "k_proj"},
      {model::LoraTargetProduct::kValue, "v_proj"},
      {model::LoraTargetProduct::kProjection, "output_proj"}};
  for (const auto& [target, name] : kProducts) {
    if (adapters.has(target)) modules.add(name);
  }
  model.set("lora_attn_modules", modules);
  model.set("apply_lora_to_mlp", adapters.has(model::LoraTargetProduct::kFc2));
  model.set("lora_rank", adapters.rank).set("lora_alpha", adapters.alpha);
  model.set("lora_dropout", adapters.dropout);
  if (adapters.base == DType::kNf4) model.set("quantize_base", true);
}

/// Adds the paths of the tokenizer's files in a Hugging Face model folder: recipes/configs.
void add_tokenizer_files(DocumentTree& words, const std::string& folder,
                         std::string_view tokenizer) {
  if (tokenizer.starts_with("qwen")) {
    words.set("path", fmt::format("{}/vocab.json", folder));
    words.set("merges_file", fmt::format("{}/merges.txt", folder));
    return;
  }
  const std::string_view below = tokenizer.starts_with("llama3") ? "/original" : "";
  words.set("path", fmt::format("{}{}/tokenizer.model", folder, below));
}

/// Adds the data: conversations, packed or each in a sequence of its own.
void add_tune_data(DocumentTree& file, const plan::Job& job, std::string_view tokenizer) {
  const packing::Packing packing = job.documents ? job.documents->packing : packing::Packing{};
  const bool packs = !job.documents || packing.kind != packing::PackingKind::kNone;
  DocumentTree words = DocumentTree::make_empty_mapping();
  words.set("_component_", component(fmt::format("models.{}", tokenizer)));
  add_tokenizer_files(words, exported_model_folder(job), tokenizer);
  words.set("max_seq_len", job.length);
  file.set("tokenizer", words);
  DocumentTree data = DocumentTree::make_empty_mapping();
  data.set("_component_", component("datasets.alpaca_cleaned_dataset")).set("packed", packs);
  if (packs && packing.too_long == packing::LongDocumentPolicy::kSplit)
    data.set("split_across_pack", true);
  file.set("dataset", data);
  file.set("seed", DocumentTree()).set("shuffle", true);
}

/// Returns the weight files: those of the release, else files of 16-bit weights with at most 5 GB
/// each, as transformers 4 writes them. torchtune/training/checkpointing/_utils.py:
/// FormattedCheckpointFiles.
DocumentTree checkpoint_files(const model::ModelArchitecture& model, std::int64_t released) {
  constexpr std::int64_t kLargestShard = 5'000'000'000;
  const std::int64_t bytes = 2 * model::count_parameters(model);
  const std::int64_t count = released > 0 ? released : (bytes + kLargestShard - 1) / kLargestShard;
  if (count == 1) return DocumentTree::empty_flow_sequence().add("model.safetensors");
  DocumentTree files = DocumentTree::empty_flow_mapping();
  files.set("filename_format", "model-{}-of-{}.safetensors");
  return files.set("max_filename", DocumentTree::make_scalar(fmt::format("{:05}", count), true));
}

void add_tune_checkpoints(DocumentTree& file, const plan::Job& job,
                          const TorchtuneModelSettings& model) {
  DocumentTree section = DocumentTree::make_empty_mapping();
  section.set("_component_", component("training.FullModelHFCheckpointer"));
  section.set("checkpoint_dir", exported_model_folder(job));
  section.set("checkpoint_files", checkpoint_files(job.model, model.shards));
  section.set("recipe_checkpoint", DocumentTree()).set("output_dir", "${output_dir}");
  section.set("model_type", model.checkpoints);
  file.set("checkpointer", section).set("resume_from_checkpoint", false);
}

std::string_view tune_optimizer(plan::Optimizer optimizer) {
  switch (optimizer) {
    case plan::Optimizer::kSgd: return "torch.optim.SGD";
    case plan::Optimizer::kAdam8bit: return "torchao.optim.AdamW8bit";
    default: return "torch.optim.AdamW";
  }
}

void add_tune_loss(DocumentTree& file, const plan::FrameworkKernels& kernels) {
  DocumentTree loss = DocumentTree::make_empty_mapping();
  if (kernels.loss_chunks == 1) {
    loss.set("_component_", "torch.nn.CrossEntropyLoss");
  } else {
    const bool all = kernels.loss_keeps == plan::LossSavedTensors::kAllLogits;
    loss.set("_component_", component(all ? "modules.loss.CEWithChunkedOutputLoss"
                                          : "modules.loss.LinearCrossEntropyLoss"));
    loss.set("num_output_chunks", kernels.loss_chunks);
  }
  file.set("loss", loss);
}

/// Adds the optimizer and a learning rate to start with. Adam's fused kernel does not support
/// tensor parallelism.
void add_tune_optimizer(DocumentTree& file, const plan::Job& job, const plan::Plan& plan) {
  DocumentTree section = DocumentTree::make_empty_mapping();
  section.set("_component_", tune_optimizer(job.optimizer));
  // Rates of recipes/configs/llama3_1/8B_full.yaml and 8B_lora.yaml.
  section.set("lr", DocumentTree::make_scalar(job.model.adapters ? "3.0e-4" : "2.0e-5", false));
  const bool adam =
      job.optimizer == plan::Optimizer::kAdam || job.optimizer == plan::Optimizer::kAdamW;
  if (adam) section.set("fused", plan.parallel.tensor == 1);
  file.set("optimizer", section)
      .set("optimizer_in_bwd", false)
      .set("clip_grad_norm", DocumentTree());
  if (!job.model.adapters) return;
  constexpr int kWarmup = 10;
  DocumentTree rate = DocumentTree::make_empty_mapping();
  rate.set("_component_", component("training.lr_schedulers.get_cosine_schedule_with_warmup"));
  file.set("lr_scheduler", rate.set("num_warmup_steps", kWarmup));
}

/// Adds the degrees: recipes/full_finetune_distributed.py. Context parallelism and replicas are in
/// its main branch.
void add_tune_mesh(DocumentTree& file, const plan::Plan& plan) {
  const plan::ParallelismDegrees& degrees = plan.parallel;
  if (degrees.tensor > 1) {
    DocumentTree split = DocumentTree::make_empty_mapping();
    split.set("_component_", component("models.llama3.base_llama_tp_plan"));
    file.set("tensor_parallel_dim", degrees.tensor).set("tensor_parallel_plan", split);
  }
  if (degrees.context > 1) {
    const bool ring = plan.context_kind == plan::ContextKind::kRing;
    file.set("context_parallel_dim", degrees.context);
    file.set("context_parallel_rotate_method", ring ? "alltoall" : "allgather");
  }
  if (!shards_optimizer_states(plan)) return;
  if (plan.sharding.uses(plan::StateShardingScope::kInner)) {
    const std::int64_t copies = degrees.data * degrees.context / plan.sharding.group;
    file.set("data_parallel_replicate_dim", copies);
    file.set("data_parallel_shard_dim", degrees.data / copies);
  }
  file.set("fsdp_reshard_after_forward",
           plan.sharding.parameters != plan::StateShardingScope::kNone);
  file.set("fsdp_cpu_offload", needs_fsdp_cpu_offload(plan));
}

/// Makes embedding and head FSDP units of their own, since plans gather them separately. A tied
/// head reads the embedding outside of its module (torchtune/modules/tied_linear.py), so that it
/// cannot.
void add_tune_sharded_layers(DocumentTree& file, const plan::Job& job, const plan::Plan& plan) {
  if (!shards_optimizer_states(plan) || job.model.tied) return;
  file.set("custom_sharded_layers",
           DocumentTree::empty_flow_sequence().add("tok_embeddings").add("output"));
}

/// Adds recomputation; ac_mode counts only if the older switch is off:
/// torchtune/training/activations.py.
void add_tune_recompute(DocumentTree& file, const plan::Plan& plan) {
  const plan::ActivationRecomputation& recompute = plan.recompute;
  file.set("enable_activation_checkpointing", recompute.kind == plan::RecomputeKind::kFull);
  file.set("enable_activation_offloading", plan.offload.offloads_layer_inputs());
  if (recompute.kind != plan::RecomputeKind::kEvery) return;
  file.set("ac_mode", "selective").set("ac_option", recompute.every);
}

void add_tune_log(DocumentTree& file) {
  DocumentTree log = DocumentTree::make_empty_mapping();
  log.set("_component_", component("training.metric_logging.DiskLogger"));
  file.set("metric_logger", log.set("log_dir", "${output_dir}/logs"));
  file.set("log_every_n_steps", 1).set("log_peak_memory_stats", true);
}

/// Returns "tune run --nnodes 2 --nproc_per_node 8 full_finetune_distributed --config THIS_FILE".
std::string tune_command(const plan::PlannedJob& planned) {
  const cluster::Cluster& cluster = planned.job.cluster;
  const std::string_view what = planned.job.model.adapters ? "lora" : "full";
  if (cluster.devices() == 1) {
    return fmt::format("tune run {}_finetune_single_device --config THIS_FILE", what);
  }
  return fmt::format(
      "tune run --nnodes {} --nproc_per_node {}{} {}_finetune_distributed --config "
      "THIS_FILE",
      cluster.nodes, cluster.devices_per_node,
      cluster.nodes > 1 ? " --rdzv_backend c10d --rdzv_endpoint MASTER:29500" : "", what);
}

}  // namespace

std::string write_torchtune(const plan::PlannedJob& planned,
                            const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  constexpr int kSteps = 100;
  TorchtuneModelSettings model = tune_model(job);
  if (job.model.adapters) add_tune_adapters(model.section, job.model);
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("output_dir", "./stepwright-output");
  add_tune_data(file, job, model.tokenizer);
  file.set("model", model.section);
  add_tune_checkpoints(file, job, model);
  file.set("batch_size", plan.micro_batch).set("epochs", 1).set("max_steps_per_epoch", kSteps);
  file.set("gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan));
  add_tune_optimizer(file, job, plan);
  add_tune_loss(file, job.kernels);
  file.set("compile", job.kernels.fused_norm).set("device", "cuda");
  file.set("dtype", job.precision == DType::kFp32 ? "fp32" : "bf16");
  add_tune_recompute(file, plan);
  add_tune_mesh(file, plan);
  add_tune_sharded_layers(file, job, plan);
  add_tune_log(file);
  std::vector<std::string> lines = header;
  lines.push_back(fmt::format("starts with: {}", tune_command(planned)));
  lines.emplace_back(
      "checkpoint_files: as many as model.safetensors.index.json of the folder says");
  return shell_comment_lines(lines) + YamlJsonDocument::from_tree(file, "torchtune").to_yaml();
}

}  // namespace stepwright::framework_files
