#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// Adds the precision: src/llamafactory/hparams/model_args.py: fp8; finetuning_args.py: pure_bf16,
/// with which hparams/parser.py allows no mixed precision; transformers' bf16 and fp16.
void add_llamafactory_precision(DocumentTree& file, const plan::Job& job) {
  const DType precision = job.precision;
  const bool pure = job.kernels.masters == plan::MasterWeights::kNone;
  file.set(precision == DType::kFp16 ? "fp16" : pure ? "pure_bf16" : "bf16", true);
  if (precision == DType::kFp8) file.set("fp8", true);
}

/// Returns the name of an attention kernel: src/llamafactory/extras/constants.py,
/// AttentionFunction.
std::string_view llamafactory_attention(cluster::AttentionKernel kernel) {
  if (kernel == cluster::AttentionKernel::kUnfused) return "disabled";
  return kernel == cluster::AttentionKernel::kFlash3 ? "fa3" : "sdpa";
}

/// Adds conversations, with their packing: src/llamafactory/hparams/data_args.py.
void add_llamafactory_packing(DocumentTree& file, const packing::Packing& packing) {
  const bool packs = packing.kind != packing::PackingKind::kNone;
  file.set("stage", "sft").set("do_train", true);
  file.set("dataset", "alpaca_en_demo").set("template", "default");
  file.set("packing", packs);
  if (packs && packing.masks) file.set("neat_packing", true);
  if (packs && packing.group > 0) file.set("preprocessing_batch_size", packing.group);
}

/// Adds a data set of data/dataset_info.json and a learning rate to start with.
void add_llamafactory_start(DocumentTree& file, const plan::Job& job) {
  constexpr int kSteps = 100;
  if (job.documents) {
    add_llamafactory_packing(file, job.documents->packing);
  } else if (job.method.kind == plan::TrainingMethodKind::kSft) {
    // Packing without masks fills all sequences.
    add_llamafactory_packing(file, {.kind = packing::PackingKind::kFirstFit, .masks = false});
  } else {
    file.set("stage", "pt").set("do_train", true);
    file.set("dataset", "c4_demo").set("packing", true);
  }
  file.set("output_dir", "./stepwright-output").set("report_to", "none");
  file.set("max_steps", kSteps).set("learning_rate", DocumentTree::make_scalar("3.0e-4", false));
  file.set("lr_scheduler_type", "cosine").set("logging_steps", 1);
}

/// Adds which weights are trained: src/llamafactory/hparams/finetuning_args.py: LoraArguments;
/// src/llamafactory/hparams/model_args.py: quantization_bit.
void add_llamafactory_training(DocumentTree& file, const model::ModelArchitecture& model) {
  file.set("finetuning_type", model.adapters ? "lora" : "full");
  if (!model.adapters) return;
  const model::LoraAdapters& adapters = *model.adapters;
  const auto [modules, parameters] = transformers_names_of_adapted_modules(model);
  if (!parameters.empty()) {
    fail_unsupported(fmt::format(
        "llama-factory: its files cannot say adapters of {}, which are parameters and no modules",
        fmt::join(parameters, ", ")));
  }
  file.set("lora_rank", adapters.rank).set("lora_alpha", adapters.alpha);
  file.set("lora_dropout", adapters.dropout);
  file.set("lora_target", modules.front() == "all-linear"
                              ? std::string("all")
                              : fmt::format("{}", fmt::join(modules, ",")));
  if (adapters.quantised()) file.set("quantization_bit", adapters.base == DType::kNf4 ? 4 : 8);
}

}  // namespace

std::string write_llamafactory(const plan::PlannedJob& planned,
                               const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  DocumentTree file = DocumentTree::make_empty_mapping();
  file.set("model_name_or_path", exported_model_folder(job));
  add_llamafactory_start(file, job);
  file.set("cutoff_len", job.length);
  file.set("per_device_train_batch_size", plan.micro_batch);
  file.set("gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan));
  add_llamafactory_precision(file, job);
  add_llamafactory_training(file, job.model);
  if (job.model.encoder && !job.model.adapters) {
    file.set("freeze_vision_tower", job.model.frozen.encoder);
    file.set("freeze_multi_modal_projector", job.model.frozen.projector);
  }
  if (job.optimizer == plan::Optimizer::kMuon) {
    file.set("use_muon", true);
  } else {
    file.set("optim", transformers_optimizer_name(job.optimizer));
  }
  file.set("flash_attn", llamafactory_attention(job.kernels.attention));
  if (job.kernels.loss_keeps == plan::LossSavedTensors::kGradients)
    file.set("enable_liger_kernel", true);
  file.set("disable_gradient_checkpointing", plan.recompute.kind != plan::RecomputeKind::kFull);
  if (plan.offload.offloads_layer_inputs()) file.set("use_unsloth_gc", true);
  if (trains_with_deepspeed(job)) {
    file.set("deepspeed", deepspeed_configuration(planned));
  } else if (plan::sharding_letters(plan.sharding) != "NNN") {
    file.set("fsdp", "full_shard auto_wrap");
    file.set("fsdp_config", fsdp_config_tree(plan, false));
  }
  return shell_comment_lines(header) +
         "# starts with: FORCE_TORCHRUN=1 NNODES=... NODE_RANK=... MASTER_ADDR=... "
         "llamafactory-cli "
         "train THIS_FILE\n" +
         YamlJsonDocument::from_tree(file, "llama-factory").to_yaml();
}

}  // namespace stepwright::framework_files
