#include "stepwright/framework_files/megatron/arguments.h"

namespace stepwright::framework_files {
namespace {

using enum Arity;

constexpr MegatronArgument kDeepspeedArguments[] = {
    {"--deepspeed", "deepspeed", kNone, "true"},
    {"--deepspeed_config", "deepspeed_config"},
    {"--zero-stage", "zero_stage"},
    {"--no-pipeline-parallel", "no_pipeline_parallel", kNone, "true"},
    {"--ds-sequence-parallel-size", "ds_sequence_parallel_size"},
    {"--ds-sequence-parallel-fpdt", "ds_sequence_parallel_fpdt", kNone, "true"},
    {"--ds-sequence-parallel-fpdt-offloading", "fine_grained_activation_offloading", kNone, "true"},
    {"--pp-partition-method", "pp_partition_method"},
    {"--checkpoint-in-cpu", "checkpoint_in_cpu", kNone, "true"},
    {"--partition-activations", "distribute_saved_activations", kNone, "true"},
    {"--remote-device", "remote_device"},
    {"--cpu-optimizer", "optimizer_cpu_offload", kNone, "true"},
    {"--random-ltd", "random_ltd", kNone, "true"},
    {"--curriculum-learning", "curriculum_learning", kNone, "true"},
    {"--curriculum-learning-legacy", "curriculum_learning", kNone, "true"},
    {"--use-flash-attn-v1", "attention_backend", kNone, "flash1"},
    {"--use-flash-attn-v2", "attention_backend", kNone, "flash"},
    {"--use-flash-attn-triton", "attention_backend", kNone, "flash"},
    {"--embed-layernorm", "embedding_norm", kNone, "true"},
    {"--num-key-value-heads", "num_query_groups"},
    {"--rotary-position-embeddings-theta", "rotary_base"},
    {"--tokenizer-name-or-path", "tokenizer_model"},
    {"--moe-expert-parallel-size", "expert_model_parallel_size"},
    {"--topk", "moe_router_topk"},
    {"--expert-interval", "expert_interval"},
    {"--mlp-type", "mlp_type"},
    {"--moe-train-capacity-factor", "moe_expert_capacity_factor"},
    {"--enable-expert-tensor-parallelism", "expert_tensor_parallelism", kNone, "true"},
    {"--use-tutel", "use_tutel", kNone, "true"},
    {"--mos", "distillation", kNone, "true"},
    {"--kd", "distillation", kNone, "true"},
};

constexpr std::string_view kDeepspeedSwitches[] = {
    "--abort-on-unmet-fused-kernel-constraints",
    "--contigious-checkpointing",
    "--cpu_torch_adam",
    "--create-moe-param-group",
    "--data-efficiency-curriculum-learning",
    "--deepscale",
    "--deepspeed-activation-checkpointing",
    "--disable-moe-token-dropping",
    "--ds_fused_adam",
    "--force-ds-sequence-parallel",
    "--layernorm-tp-auto-sync",
    "--log-optimizer-states-to-tensorboard",
    "--no-query-key-layer-scaling",
    "--profile-backward",
    "--repeated-dataloader",
    "--return-data-index",
    "--scattered-embeddings",
    "--split-transformers",
    "--sync-tp-duplicated-parameters",
    "--synchronize-each-layer",
    "--universal-checkpoint",
    "--zero-contigious-gradients",
    "--zero-reduce-scatter",
};

constexpr std::string_view kDeepspeedIdle[] = {
    "--aml-data-download-path",
    "--deepscale_config",
    "--ds-sequence-parallel-fpdt-chunk-size",
    "--kill-switch-path",
    "--lr-decay-tokens",
    "--lr-warmup-tokens",
    "--moe-eval-capacity-factor",
    "--moe-loss-coeff",
    "--moe-min-capacity",
    "--train-tokens",
    "--train-weighted-split-paths-path",
    "--valid-num-workers",
    "--valid-weighted-split-paths-path",
    "--zero-allgather-bucket-size",
    "--zero-reduce-bucket-size",
};

constexpr IdleArguments kDeepspeedIdleArguments[] = {{kNone, kDeepspeedSwitches},
                                                     {kOne, kDeepspeedIdle}};

}  // namespace

std::span<const MegatronArgument> deepspeed_arguments() { return kDeepspeedArguments; }
std::span<const IdleArguments> idle_deepspeed_arguments() { return kDeepspeedIdleArguments; }

}  // namespace stepwright::framework_files
