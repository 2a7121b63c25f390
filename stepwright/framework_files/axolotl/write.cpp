
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/axolotl/unfrozen.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// Adds the precision: src/axolotl/utils/config/__init__.py: resolve_dtype. Without master weights
/// nothing is cast: src/axolotl/core/builders/base.py, _configure_precision_settings.
void add_axolotl_precision(DocumentTree& file, const plan::Job& job) {
  const DType precision = job.precision;
  if (job.kernels.masters == plan::MasterWeights::kNone && precision == DType::kBf16) {
    file.set("bf16", "full");
    return;
  }
  if (precision == DType::kFp32) {
    file.set("float32", true);
    return;
  }
  file.set("bf16", precision != DType::kFp16);
  if (precision == DType::kFp16) file.set("fp16", true);
  if (precision == DType::kFp8) file.set("fp8", true);
}

/// Adds degrees and sharding: src/axolotl/utils/distributed.py, _get_parallel_config_kwargs;
/// src/axolotl/utils/schemas/fsdp.py.
void add_axolotl_mesh(DocumentTree& file, const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  const plan::ParallelismDegrees& degrees = plan.parallel;
  if (trains_with_deepspeed(planned.job)) {
    file.set("context_parallel_size", degrees.context);
    if (degrees.context > 1) file.set("ring_attn_func", "batch_ring");
    file.set("deepspeed", deepspeed_configuration(planned));
    return;
  }
  if (plan::sharding_letters(plan.sharding) == "NNN") return;
  const bool inner = plan.sharding.uses(plan::StateShardingScope::kInner);
  const std::int64_t copies = inner ? degrees.data * degrees.context / plan.sharding.group : 1;
  // Without degrees, FSDP shards states over all ranks.
  if (degrees.tensor > 1 || degrees.context > 1 || copies > 1) {
    file.set("tensor_parallel_size", degrees.tensor);
    file.set("context_parallel_size", degrees.context);
    if (degrees.context > 1) file.set("ring_attn_func", "batch_ring");
    file.set("dp_replicate_size", copies);
    file.set("dp_shard_size", degrees.data / copies);
  }
  file.set("fsdp_version", 2);
  DocumentTree section = DocumentTree::make_empty_mapping();
  section.set("reshard_after_forward", plan.sharding.parameters != plan::StateShardingScope::kNone);
  section.set("auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  section.set("offload_params", needs_fsdp_cpu_offload(plan));
  section.set("state_dict_type", "SHARDED_STATE_DICT");
  file.set("fsdp_config", section);
}

/// Adds the attention kernel. Context parallelism needs `flash_attention`:
/// src/axolotl/utils/schemas/validation.py: check_context_parallel_size.
void add_axolotl_attention(DocumentTree& file, const plan::Job& job, const plan::Plan& plan) {
  const bool second = job.kernels.attention == cluster::AttentionKernel::kFlash2;
  if (second || plan.parallel.context > 1) {
    file.set("flash_attention", true);
    return;
  }
  const bool unfused = job.kernels.attention == cluster::AttentionKernel::kUnfused;
  const bool third = job.kernels.attention == cluster::AttentionKernel::kFlash3;
  file.set("attn_implementation", unfused ? "eager" : third ? "flash_attention_3" : "sdpa");
}

/// Adds a data set and a learning rate to start with, as in examples/llama-3/fft-8b.yaml.
void add_axolotl_start(DocumentTree& file) {
  constexpr int kSteps = 100;
  DocumentTree data = DocumentTree::empty_flow_mapping();
  data.set("path", "mhenrichsen/alpaca_2k_test").set("type", "alpaca");
  file.set("datasets", DocumentTree::make_empty_sequence().add(data));
  file.set("output_dir", "./stepwright-output");
  file.set("max_steps", kSteps).set("learning_rate", DocumentTree::make_scalar("3.0e-4", false));
  file.set("lr_scheduler", "cosine").set("logging_steps", 1);
}

/// Adds sample packing: src/axolotl/utils/schemas/config.py: sample_packing,
/// sample_packing_group_size, excess_length_strategy.
void add_axolotl_packing(DocumentTree& file, const plan::Job& job) {
  const packing::Packing packing = job.documents ? job.documents->packing : packing::Packing{};
  const bool packs = packing.kind != packing::PackingKind::kNone;
  file.set("sample_packing", packs);
  if (packing.kind == packing::PackingKind::kGreedy) file.set("sample_packing_sequentially", true);
  if (packs && packing.group > 0) file.set("sample_packing_group_size", packing.group);
  file.set("pad_to_sequence_len", packing.pad_to == packing::PaddingTarget::kLength);
  if (packing.too_long == packing::LongDocumentPolicy::kTruncate)
    file.set("excess_length_strategy", "truncate");
}

/// Adds adapters: src/axolotl/loaders/adapter.py, src/axolotl/utils/schemas/peft.py. `qlora` is
/// LoRA over 4-bit weights.
void add_axolotl_adapters(DocumentTree& file, const model::ModelArchitecture& model) {
  if (!model.adapters) return;
  const model::LoraAdapters& adapters = *model.adapters;
  file.set("adapter", adapters.base == DType::kNf4 ? "qlora" : "lora");
  file.set("lora_r", adapters.rank).set("lora_alpha", adapters.alpha);
  file.set("lora_dropout", adapters.dropout);
  const auto [modules, parameters] = transformers_names_of_adapted_modules(model);
  if (!modules.empty() && modules.front() == "all-linear") {
    file.set("lora_target_linear", true);
  } else {
    file.set("lora_target_modules", DocumentTree::empty_flow_sequence(modules));
  }
  if (!parameters.empty())
    file.set("lora_target_parameters", DocumentTree::empty_flow_sequence(parameters));
  if (adapters.base == DType::kNf4) file.set("load_in_4bit", true);
  if (adapters.base == DType::kFp8) file.set("load_in_8bit", true);
}

/// Adds frozen parts: src/axolotl/train.py. freeze_mm_modules freezes an encoder and its projector.
void add_axolotl_frozen(DocumentTree& file, model::ModelArchitecture model) {
  if (model.adapters) return;
  if (model.frozen.encoder && model.frozen.projector) {
    file.set("freeze_mm_modules", true);
    model.frozen.encoder = model.frozen.projector = false;
  }
  if (!model.frozen.any()) return;
  file.set("unfrozen_parameters",
           DocumentTree::make_empty_sequence().add(axolotl_unfrozen_parameters_regex(model)));
}

/// Adds the kernel of the loss: whole logits with chunked copies, Liger's kernel, or the plugin of
/// cut cross entropy.
void add_axolotl_loss(DocumentTree& file, const plan::FrameworkKernels& kernels) {
  if (!kernels.fused_loss()) return;
  switch (kernels.loss_keeps) {
    case plan::LossSavedTensors::kGradients:
      file.set("liger_fused_linear_cross_entropy", true);
      break;
    case plan::LossSavedTensors::kSums: file.set("cut_cross_entropy", true); break;
    default: file.set("chunked_cross_entropy", true); break;
  }
}

}  // namespace

std::string write_axolotl(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("base_model", exported_model_folder(job));
  add_axolotl_start(file);
  add_axolotl_packing(file, job);
  file.set("sequence_len", job.length);
  file.set("micro_batch_size", plan.micro_batch);
  file.set("gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan));
  add_axolotl_precision(file, job);
  add_axolotl_adapters(file, job.model);
  add_axolotl_frozen(file, job.model);
  file.set("optimizer", transformers_optimizer_name(job.optimizer));
  add_axolotl_attention(file, job, plan);
  add_axolotl_loss(file, job.kernels);
  file.set("gradient_checkpointing", plan.recompute.kind == plan::RecomputeKind::kFull);
  if (plan.offload.offloads_layer_inputs()) file.set("activation_offloading", true);
  add_axolotl_mesh(file, planned);
  return shell_comment_lines(header) + YamlJsonDocument::from_tree(file, "axolotl").to_yaml();
}

}  // namespace stepwright::framework_files
