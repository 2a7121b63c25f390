#pragma once

#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/megatron/carried_fields.h"

namespace stepwright::framework_files {

/// Where verl's trainer over an engine has the fields of Megatron:
/// verl/trainer/config/engine/megatron.yaml.
inline constexpr MegatronPlace kVerlTuningPlaces[] = {
    {"engine.override_transformer_config.*", ""},
    {"engine.override_ddp_config.*", ""},
    {"optim.override_optimizer_config.*", ""},
    {"model.lora.rank", ""},
    {"engine.tensor_model_parallel_size", "tensor_model_parallel_size"},
    {"engine.expert_model_parallel_size", "expert_model_parallel_size"},
    {"engine.expert_tensor_parallel_size", "expert_tensor_parallel_size"},
    {"engine.pipeline_model_parallel_size", "pipeline_model_parallel_size"},
    {"engine.virtual_pipeline_model_parallel_size", "virtual_pipeline_model_parallel_size"},
    {"engine.context_parallel_size", "context_parallel_size"},
    {"engine.sequence_parallel", "sequence_parallel"},
    {"engine.use_megatron_fsdp", "use_megatron_fsdp"},
    {"engine.use_distributed_optimizer", "use_distributed_optimizer"}};

/// What is known of its trainers of fine-tuning: verl/trainer/config/sft_trainer.yaml (0.6.1) and
/// sft_trainer_engine.yaml (0.9.1).
inline constexpr KnownSetting kVerlTuningSettings[] = {
    {"model.partial_pretrain", "job.model"},
    {"model.path", "job.model"},
    {"data.max_length", "job.batch.length"},
    {"data.train_batch_size", "job.batch.sequences"},
    {"data.micro_batch_size_per_gpu", "micro_batch"},
    {"data.max_token_len_per_gpu", "micro_batch"},
    {"data.use_dynamic_bsz", "", Matters::kYes,
     "micro-batches of so many tokens: each is predicted at full length"},
    {"trainer.nnodes", "job.cluster"},
    {"trainer.n_gpus_per_node", "job.cluster"},
    {"ulysses_sequence_parallel_size", "parallel.context"},
    {"engine.ulysses_sequence_parallel_size", "parallel.context"},
    {"use_remove_padding", "job.batch.packing", Matters::kYes, kLengthsUnsaid},
    {"model.use_remove_padding", "job.batch.packing", Matters::kYes, kLengthsUnsaid},
    {"model.enable_gradient_checkpointing", "recompute"},
    {"model.lora_rank", "job.adapters.rank"},
    {"model.lora_alpha", "job.adapters.alpha"},
    {"model.target_modules", "job.adapters.targets"},
    {"model.lora.rank", "job.adapters.rank"},
    {"model.lora.alpha", "job.adapters.alpha"},
    {"model.lora.dropout", "job.adapters.dropout"},
    {"model.lora.target_modules", "job.adapters.targets"},
    {"model.lora.exclude_modules", "", Matters::kYes, "modules without adapters"},
    {"model.lora*", ""},
    {"model.use_liger", "", Matters::kYes, "fused kernels of Liger"},
    {"model.use_fused_kernels", "", Matters::kYes, "a fused kernel for the logits"},
    {"model.enable_activation_offload", "offload.activations", Matters::kYes,
     "offload of all that is kept: its messages and what it frees"},
    {"model.fsdp_config.cpu_offload", "offload", Matters::kYes, "states on the host"},
    {"model.fsdp_config.offload_params", "offload"},
    {"model.fsdp_config.model_dtype", "job.kernels", Matters::kYes,
     "the type of the parameters, which are predicted in fp32"},
    {"model.fsdp_config.wrap_policy*", ""},
    {"model.strategy", ""},
    {"engine.fsdp_size", "sharding.states"},
    {"engine.reshard_after_forward", "sharding.states"},
    {"engine.offload_policy", "offload"},
    {"engine.param_offload", "", Matters::kYes, "parameters on the host between steps"},
    {"engine.optimizer_offload", "", Matters::kYes,
     "the optimizer's states on the host between steps"},
    {"engine.model_dtype", "job.kernels", Matters::kYes,
     "the type of the parameters, which are predicted in fp32"},
    {"engine.strategy", ""},
    {"engine.forward_prefetch", ""},
    {"engine.use_mbridge", ""},
    {"engine.vanilla_mbridge", ""},
    {"engine.use_torch_compile", ""},
    {"engine.wrap_policy*", ""},
    {"engine.checkpoint*", ""},
    {"engine.dist_checkpointing*", ""},
    {"engine.use_dist_checkpointing", ""},
    {"engine._target_", ""},
    {"engine.seed", ""},
    {"engine", ""},
    {"optim*", ""},
    {"model.*", ""},
    {"data.*", ""},
    {"trainer.*", ""},
    {"checkpoint*", ""},
    {"profiler*", ""},
    {"defaults", ""},
    {"hydra*", ""},
    {"--config-name", ""},
    {"--config-path", ""},
};

}  // namespace stepwright::framework_files
