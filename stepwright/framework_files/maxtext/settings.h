#pragma once

#include "stepwright/framework_files/import_report.h"

namespace stepwright {

/// What is known of a configuration of MaxText: src/maxtext/configs/base.yml.
inline constexpr KnownSetting kMaxTextSettings[] = {
    {"ici_data_parallelism", "parallel.data"},
    {"dcn_data_parallelism", "parallel.data"},
    {"ici_pipeline_parallelism", "parallel.pipeline"},
    {"dcn_pipeline_parallelism", "parallel.pipeline"},
    {"ici_fsdp_parallelism", "sharding.states"},
    {"dcn_fsdp_parallelism", "sharding.states"},
    {"ici_context_parallelism", "parallel.context"},
    {"dcn_context_parallelism", "parallel.context"},
    {"ici_tensor_parallelism", "parallel.tensor"},
    {"dcn_tensor_parallelism", "parallel.tensor"},
    {"ici_tensor_sequence_parallelism", "parallel.tensor"},
    {"dcn_tensor_sequence_parallelism", "parallel.tensor"},
    {"ici_expert_parallelism", "parallel.expert"},
    {"dcn_expert_parallelism", "parallel.expert"},
    {"per_device_batch_size", "job.batch.sequences"},
    {"gradient_accumulation_steps", "job.batch.sequences"},
    {"num_pipeline_microbatches", "job.batch.sequences"},
    {"max_target_length", "job.batch.length"},
    {"shard_optimizer_over_data", "sharding.states"},
    {"context_parallel_strategy", "context_kind"},
    {"remat_policy", "recompute"},
    {"dtype", "job.precision"},
    {"quantization", "job.precision"},
    {"grad_dtype", "accumulate"},
    {"opt_type", "job.optimizer"},
    {"attention", "job.kernels.attention"},
    {"use_ring_of_experts", "job.dispatcher"},
    {"base_emb_dim", "job.model"},
    {"base_num_decoder_layers", "job.model"},
    {"base_num_query_heads", "job.model"},
    {"base_num_kv_heads", "job.model"},
    {"head_dim", "job.model"},
    {"base_mlp_dim", "job.model"},
    {"vocab_size", "job.model"},
    {"logits_via_embedding", "job.model"},
    {"normalization_layer_epsilon", "job.model"},
    {"rope_max_timescale", "job.model"},
    {"dropout_rate", "job.model"},
    {"rope_type", "job.model"},
    {"num_experts", "job.model"},
    {"num_experts_per_tok", "job.model"},
    {"hardware", ""},
    {"decoder_block", ""},
    {"num_layers_per_pipeline_stage", ""},
    {"num_pipeline_repeats", ""},
};

}  // namespace stepwright
