#pragma once

#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/megatron/carried_fields.h"

namespace stepwright::framework_files {

/// Where a ConfigContainer has the fields of Megatron: NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/training/config.py, mixed_precision.py, comm_overlap.py.
inline constexpr MegatronPlace kBridgePlaces[] = {
    {"model.()", ""},
    {"model.[]", ""},
    {"model.hybrid_override_pattern", "hybrid_layer_pattern"},
    {"model.layernorm_epsilon", "norm_epsilon"},
    {"model.layernorm_zero_centered_gamma", "apply_layernorm_1p"},
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
    {"mixed_precision.grad_reduce_in_fp32", "accumulate"},
    {"model.pipeline_model_parallel_layout", "layers", Matters::kYes, "how layers are split"},
    {"peft", "job.adapters", Matters::kYes, "adapters: all is trained here"},
    {"peft.()", "job.adapters"},
    {"peft.dim", "job.adapters.rank"},
    {"peft.alpha", "job.adapters.alpha"},
    {"peft.dropout", "job.adapters.dropout"},
    {"peft.target_modules", "job.adapters.targets"},
    {"peft.sequence_parallel_input_regather", "tensor_input"},
    {"peft.*", ""},
    {"set_*", "", Matters::kYes, "what this function changes"},
    {"apply_rope_fusion", "", Matters::kYes, "that the rotary embedding is several kernels",
     "true"},
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
    {"moe_shared_expert_overlap", "overlap.shared_experts"},
    {"delay_wgrad_compute", "", Matters::kYes, "weight gradients apart from the backward"},
    {"main_params_dtype", "", Matters::kMaybe, "the type of the optimizer's parameters", "fp32"},
    {"main_grads_dtype", "", Matters::kMaybe, "the type of the optimizer's gradients", "fp32"},
    {"should_pad_vocab", ""},
    {"tokenizer_type", ""},
    {"tokenizer_model", ""},
    {"activation_func", "job.model"},
    {"gated_linear_unit", "job.model"},
    {"hf_model_id", ""},
    {"revision", ""},
    {"lr", ""},
    {"min_lr", ""},
    {"weight_decay", ""},
    {"adam_*", ""},
    {"clip_grad", ""},
    {"init_method_std", ""},
    {"persist_layer_norm", ""},
    {"masked_softmax_fusion", ""},
    {"attention_softmax_in_fp32", ""},
    {"use_mamba_mem_eff_path", ""},
    {"calculate_per_token_loss", ""},
    {"freeze_*", "", Matters::kYes, "that a part of the model is not trained"},
    {"bias_activation_fusion", ""},
    {"use_te_rng_tracker", ""},
    {"check_for_large_grads", ""},
    {"rerun_state_machine.*", ""},
    {"cfg.rng.*", ""},
    {"cfg.dataset*", ""},
    {"cfg.dist.*", ""},
    {"comm_overlap.tp_comm_overlap_cfg", "", Matters::kMaybe, "how overlapped messages are cut"},
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

/// What the classes of models with sizes of a recipe's own have, where Megatron-Core has another
/// default: src/megatron/bridge/models/mamba/mamba_provider.py, hybrid/hybrid_provider.py. Both
/// have the same.
struct BridgeDefault {
  std::string_view field;
  std::string_view value;
};
inline constexpr std::string_view kBridgeHybrids[] = {"MambaModelProvider", "HybridModelProvider"};
inline constexpr BridgeDefault kBridgeHybridDefaults[] = {
    {"is_hybrid_model", "true"},         {"share_embeddings_and_output_weights", "false"},
    {"position_embedding_type", "none"}, {"normalization", "RMSNorm"},
    {"add_bias_linear", "false"},        {"norm_epsilon", "1e-5"},
    {"hidden_dropout", "0.0"},           {"attention_dropout", "0.0"},
};

/// Classes that make a model, and the built-in one that each is: src/megatron/bridge/models.
struct BridgeProvider {
  std::string_view name;
  std::string_view model;
};
inline constexpr BridgeProvider kBridgeProviders[] = {
    {"DeepSeekV2LiteModelProvider", "deepseek-v2-lite"},
    {"DeepSeekV2ModelProvider", "deepseek-v2"},
    {"DeepSeekV3ModelProvider", "deepseek-v3"},
    {"GLM45AirModelProvider106B", "glm-4.5-air"},
    {"GLM45ModelProvider355B", "glm-4.5"},
    {"GPTOSSProvider120B", "gpt-oss-120b"},
    {"GPTOSSProvider20B", "gpt-oss-20b"},
    {"GPTProvider175B", "gpt3-175b"},
    {"Gemma2ModelProvider27B", "gemma-2-27b"},
    {"Gemma2ModelProvider2B", "gemma-2-2b"},
    {"Gemma2ModelProvider9B", "gemma-2-9b"},
    {"Gemma3ModelProvider1B", "gemma-3-1b"},
    {"KimiK2Provider", "kimi-k2"},
    {"Llama2ModelProvider13B", "llama-2-13b"},
    {"Llama2ModelProvider70B", "llama-2-70b"},
    {"Llama2ModelProvider7B", "llama-2-7b"},
    {"Llama31ModelProvider405B", "llama-3.1-405b"},
    {"Llama31ModelProvider70B", "llama-3.1-70b"},
    {"Llama31ModelProvider8B", "llama-3.1-8b"},
    {"Llama32ModelProvider1B", "llama-3.2-1b"},
    {"Llama32ModelProvider3B", "llama-3.2-3b"},
    {"Llama3ModelProvider70B", "llama-3-70b"},
    {"Llama3ModelProvider8B", "llama-3-8b"},
    {"MoonlightModelProvider16B", "moonlight-16b-a3b"},
    {"Nemotron3NanoProvider", "nemotron-3-nano-30b-a3b"},
    {"Nemotron4ModelProvider15B", "nemotron-4-15b"},
    {"Nemotron4ModelProvider340B", "nemotron-4-340b"},
    {"NemotronHModel47BProvider", "nemotron-h-47b"},
    {"NemotronHModel4BProvider", "nemotron-h-4b"},
    {"NemotronHModel56BProvider", "nemotron-h-56b"},
    {"NemotronHModel8BProvider", "nemotron-h-8b"},
    {"NemotronHModelProvider47B", "nemotron-h-47b"},
    {"NemotronHModelProvider4B", "nemotron-h-4b"},
    {"NemotronHModelProvider56B", "nemotron-h-56b"},
    {"NemotronHModelProvider8B", "nemotron-h-8b"},
    {"NemotronNano12Bv2Provider", "nemotron-nano-12b-v2"},
    {"NemotronNano9Bv2Provider", "nemotron-nano-9b-v2"},
    {"NemotronNanoModelProvider12Bv2", "nemotron-nano-12b-v2"},
    {"NemotronNanoModelProvider9Bv2", "nemotron-nano-9b-v2"},
    {"OlMoEModelProvider", "olmoe-1b-7b"},
    {"Qwen3ModelProvider14B", "qwen3-14b"},
    {"Qwen3ModelProvider1P7B", "qwen3-1.7b"},
    {"Qwen3ModelProvider32B", "qwen3-32b"},
    {"Qwen3ModelProvider4B", "qwen3-4b"},
    {"Qwen3ModelProvider600M", "qwen3-0.6b"},
    {"Qwen3ModelProvider8B", "qwen3-8b"},
};

}  // namespace stepwright::framework_files
