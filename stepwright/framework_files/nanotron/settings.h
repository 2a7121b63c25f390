#pragma once

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// What is known of a configuration of nanotron: huggingface/nanotron
/// src/nanotron/config/config.py, parallelism_config.py, models_config.py.
inline constexpr KnownSetting kNanotronSettings[] = {
    {"parallelism.domino*", "", Matters::kYes,
     "parts of a micro-batch that hide the messages of tensor ranks"},
    {"parallelism.dp", "parallel.data"},
    {"parallelism.tp", "parallel.tensor"},
    {"parallelism.pp", "parallel.pipeline"},
    {"parallelism.context_parallel_size", "parallel.context"},
    {"parallelism.expert_parallel_size", "parallel.expert"},
    {"parallelism.pp_engine", "schedule.kind"},
    {"parallelism.tp_mode", "sequence_parallel"},
    {"parallelism.tp_recompute_allgather", "tensor_input"},
    {"parallelism.recompute_layer", "recompute"},
    {"parallelism.moe_layer_recompute", "", Matters::kYes, "recomputation of experts"},
    {"parallelism.tp_linear_async_communication", "", Matters::kYes,
     "messages of tensor ranks that no product hides: those of gradients are hidden", "true"},
    {"parallelism.pp_layer_partition", "", Matters::kYes, "how layers are split"},
    {"tokens.micro_batch_size", "micro_batch"},
    {"tokens.batch_accumulation_per_replica", "job.batch.sequences"},
    {"tokens.sequence_length", "job.batch.length"},
    {"optimizer.zero_stage", "sharding.states"},
    {"optimizer.accumulate_grad_in_fp32", "accumulate"},
    {"optimizer.optimizer_factory.name", "job.optimizer"},
    {"model.dtype", "job.precision"},
    {"model.ddp_bucket_cap_mb", ""},
    {"model.model_config", "job.model"},
    {"model.make_vocab_size_divisible_by", "job.model"},
    {"model.init_method*", ""},
    {"checkpoints*", ""},
    {"data_stages*", ""},
    {"data*", ""},
    {"general*", ""},
    {"lighteval*", ""},
    {"logging*", ""},
    {"metrics_logging*", ""},
    {"profiler*", ""},
    {"s3_upload*", ""},
    {"experiment_logger*", ""},
    {"kill_switch_path", ""},
    {"tokenizer*", ""},
    {"tokens.*", ""},
    {"optimizer.learning_rate_scheduler*", ""},
    {"optimizer.optimizer_factory.*", ""},
    {"optimizer.clip_grad", ""},
    {"optimizer.weight_decay*", ""},
};

}  // namespace stepwright::framework_files
