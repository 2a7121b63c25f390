#pragma once

#include "stepwright/framework_files/import_report.h"
#include "stepwright/framework_files/megatron_words.h"

namespace stepwright {

/// Where a ConfigContainer has the fields of Megatron: NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/training/config.py, mixed_precision.py, comm_overlap.py.
inline constexpr MegatronPlace kBridgePlaces[] = {
    {"model.()", ""},
    {"model.[]", ""},
    {"model.hybrid_override_pattern", "hybrid_layer_pattern"},
    {"model.*", ""},
    {"train.micro_batch_size", "micro_batch_size"},
    {"train.global_batch_size", "global_batch_size"},
    {"train.rampup_batch_size", "rampup_batch_size"},
    {"ddp.()", ""},
    {"ddp.*", ""},
    {"optimizer.()", ""},
    {"optimizer.*", ""},
    {"comm_overlap.()", ""},
    {"comm_overlap.*", ""},
    {"mixed_precision.()", ""},
    {"mixed_precision.*", ""},
    {"dist.use_tp_pp_dp_mapping", "use_tp_pp_dp_mapping"}};

/// What is known beside them.
inline constexpr KnownSetting kBridgeSettings[] = {
    {"()", ""},
    {"model.()", ""},
    {"model.[]", "job.model"},
    {"model.hf_model_id", "job.model"},
    {"mixed_precision", "job.precision"},
    {"peft", "job.adapters", Matters::kYes, "adapters: all is trained here"},
    {"peft.()", "job.adapters"},
    {"peft.dim", "job.adapters.rank"},
    {"peft.alpha", "job.adapters.alpha"},
    {"peft.dropout", "job.adapters.dropout"},
    {"peft.target_modules", "job.adapters.targets"},
    {"peft.*", ""},
    {"set_*", "", Matters::kYes, "what this function changes"},
    {"apply_*", "", Matters::kYes, "what this function changes"},
    {"train.*", ""},
    {"validation.*", ""},
    {"scheduler.*", ""},
    {"scheduler", ""},
    {"dataset.*", ""},
    {"dataset", ""},
    {"logger.*", ""},
    {"tokenizer.*", ""},
    {"tokenizer", ""},
    {"checkpoint.*", ""},
    {"rng.*", ""},
    {"dist.*", ""},
    {"env_vars*", ""},
    {"ddp.()", ""},
    {"optimizer.()", ""},
    {"comm_overlap.()", ""},
    {"mixed_precision.()", ""},
    {"check_for_nan_in_grad", ""},
    {"average_in_collective", ""},
    {"params_dtype", ""},
    {"pipeline_dtype", ""},
    {"autocast_enabled", ""},
    {"bf16", "job.precision"},
    {"fp16", "job.precision"},
    {"transformer_impl", ""},
    {"cross_entropy_fusion_impl", ""},
    {"cuda_graph_scope", ""},
    {"cuda_graph_warmup_steps", ""},
    {"offload_modules", ""},
    {"moe_permute_fusion", ""},
    {"moe_router_fusion", ""},
    {"moe_hybridep_num_sms", ""},
    {"moe_shared_expert_overlap", "", Matters::kYes, "overlap of shared experts"},
    {"delay_wgrad_compute", "", Matters::kYes, "weight gradients apart from the backward"},
    {"main_params_dtype", "", Matters::kMaybe, "the type of the optimizer's parameters"},
    {"main_grads_dtype", "", Matters::kMaybe, "the type of the optimizer's gradients"},
};

/// What common recipes set: src/megatron/bridge/recipes/common.py.
struct BridgeCommon {
  std::string_view function;
  std::int64_t micro_batch, sequences, length;
  bool overlap;
  bool adapters;
};
inline constexpr BridgeCommon kBridgeCommons[] = {{"_pretrain_common", 2, 32, 4096, true, false},
                                                  {"_sft_common", 1, 128, 2048, false, false},
                                                  {"_peft_common", 1, 128, 2048, false, true}};

}  // namespace stepwright
