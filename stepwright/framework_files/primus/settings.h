#pragma once

#include "stepwright/framework_files/import_report.h"
#include "stepwright/framework_files/megatron_words.h"

namespace stepwright {

/// Where a configuration of Primus has the fields of Megatron: AMD-AGI/Primus
/// examples/megatron/configs.
inline constexpr MegatronPlace kPrimusPlaces[] = {
    {"modules.pre_trainer.overrides.norm_epsilon", ""},
    {"modules.pre_trainer.overrides.max_position_embeddings", ""},
    {"modules.pre_trainer.overrides.ddp_bucket_size", "bucket_size"},
    {"modules.pre_trainer.overrides.*", ""},
    {"modules.pre_trainer.model", ""},
    {"modules.pre_trainer.framework", ""},
    {"modules.pre_trainer.config", ""}};

/// What is known of them beside Megatron's own: primus/configs/modules/megatron/trainer_base.yaml,
/// primus_megatron_module.yaml, primus_turbo.yaml, primus_pipeline.yaml.
inline constexpr KnownSetting kPrimusSettings[] = {
    {"modules.pre_trainer.overrides.norm_epsilon", ""},
    {"modules.pre_trainer.overrides.max_position_embeddings", ""},
    {"modules.pre_trainer.model", "job.model"},
    {"modules.pre_trainer.framework", ""},
    {"modules.pre_trainer.config", ""},
    {"modules.pre_trainer.name", ""},
    {"work_group", ""},
    {"user_name", ""},
    {"exp_name", ""},
    {"workspace", ""},
    {"platform", ""},
    {"enable_primus_turbo", "", Matters::kYes, "kernels of Primus-Turbo"},
    {"use_turbo_attention", "", Matters::kYes, "the attention kernel of Primus-Turbo"},
    {"use_turbo_grouped_mlp", "", Matters::kYes, "grouped products of Primus-Turbo"},
    {"use_turbo_parallel_linear", "", Matters::kYes, "tensor products of Primus-Turbo"},
    {"use_turbo_deepep", "job.dispatcher"},
    {"moe_use_fused_router_with_aux_score", ""},
    {"moe_use_legacy_grouped_gemm", ""},
    {"turbo_*", "", Matters::kYes, "kernels of Primus-Turbo"},
    {"patch_zero_bubble", "", Matters::kYes, "the schedule with zero bubbles"},
    {"patch_primus_pipeline", "", Matters::kYes, "the schedule of Primus"},
    {"pp_algorithm", "", Matters::kYes, "the schedule of Primus"},
    {"decoder_first_pipeline_num_layers", "", Matters::kYes, "how layers are split"},
    {"decoder_last_pipeline_num_layers", "", Matters::kYes, "how layers are split"},
    {"use_custom_fsdp", "", Matters::kYes, "states sharded by Megatron's FSDP"},
    {"moe_router_force_load_balancing", ""},
    {"moe_router_dtype", ""},
    {"gradient_accumulation_fusion", ""},
    {"cross_entropy_fusion_impl", ""},
    {"train_iters", ""},
    {"lr*", ""},
    {"min_lr", ""},
    {"weight_decay", ""},
    {"adam_*", ""},
    {"eod_mask_loss", ""},
    {"init_method_std", ""},
    {"clip_grad", ""},
    {"mock_data", ""},
    {"train_data_path", ""},
    {"valid_data_path", ""},
    {"test_data_path", ""},
    {"data_path", ""},
    {"finetune", ""},
    {"auto_continue_train", ""},
    {"load", ""},
    {"save", ""},
    {"save_interval", ""},
    {"no_*", ""},
    {"disable_last_saving", ""},
    {"eval_*", ""},
    {"log_*", ""},
    {"wandb*", ""},
    {"disable_wandb", ""},
    {"disable_tensorboard", ""},
    {"stderr_sink_level", ""},
    {"file_sink_level", ""},
    {"sink_level", ""},
    {"profile*", ""},
    {"use_pytorch_profiler", ""},
    {"manual_gc*", ""},
    {"num_workers", ""},
    {"seed", ""},
};

/// Models of Primus that are built in: primus/configs/models/megatron, .../torchtitan.
struct PrimusModel {
  std::string_view file;             ///< Without ".yaml" and, of torchtitan, "-fp8".
  std::string_view model;            ///< Of `built_in_models`.
  std::string_view dispatcher = "";  ///< That its file says.
};
inline constexpr PrimusModel kPrimusModels[] = {
    {"deepseek_v2", "deepseek-v2", "alltoall"},
    {"deepseek_v2_lite", "deepseek-v2-lite", "alltoall"},
    {"deepseek_v3", "deepseek-v3", "alltoall"},
    {"deepseek_v3_671b", "deepseek-v3", "alltoall"},
    {"gpt_oss_20B", "gpt-oss-20b"},
    {"gpt_oss_20b", "gpt-oss-20b"},
    {"gpt_oss_120b", "gpt-oss-120b"},
    {"llama2_7B", "llama-2-7b"},
    {"llama2_13B", "llama-2-13b"},
    {"llama2_70B", "llama-2-70b"},
    {"llama3_8B", "llama-3-8b"},
    {"llama3_70B", "llama-3-70b"},
    {"llama3.1_8B", "llama-3.1-8b"},
    {"llama3.1_70B", "llama-3.1-70b"},
    {"llama3.3_70B", "llama-3.1-70b"},
    {"llama3.1_405B", "llama-3.1-405b"},
    {"llama3.2_1B", "llama-3.2-1b"},
    {"llama3.2_3B", "llama-3.2-3b"},
    {"mixtral_8x7B_v0.1", "mixtral-8x7b"},
    {"mixtral_8x22B_v0.1", "mixtral-8x22b"},
    {"qwen2.5_3B", "qwen2.5-3b"},
    {"qwen2.5_7B", "qwen2.5-7b"},
    {"qwen2.5_14B", "qwen2.5-14b"},
    {"qwen2.5_32B", "qwen2.5-32b"},
    {"qwen2.5_72B", "qwen2.5-72b"},
    {"qwen3_0.6B", "qwen3-0.6b"},
    {"qwen3_1.7B", "qwen3-1.7b"},
    {"qwen3_4B", "qwen3-4b"},
    {"qwen3_8B", "qwen3-8b"},
    {"qwen3_14B", "qwen3-14b"},
    {"qwen3_32B", "qwen3-32b"},
    {"qwen3_30B_A3B", "qwen3-30b-a3b"},
    {"qwen3_235B_A22B", "qwen3-235b-a22b"}};

}  // namespace stepwright
