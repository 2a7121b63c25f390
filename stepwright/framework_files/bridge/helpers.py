# ruff: noqa: F821
# What functions of Megatron-Bridge that recipes call do with a configuration, and the names that
# they take from it, for recipes that are given without them. What changes no figure is left out.
# src/megatron/bridge/recipes/utils: optimizer_utils.py, finetune_utils.py, tokenizer_utils.py;
# src/megatron/bridge/perf_recipes/_common.py; scripts/performance/utils: helpers.py and utils.py
# before workloads had bases.

DEFAULT_NULL_TOKENIZER_VOCAB_SIZE = 32000


def distributed_fused_adam_with_cosine_annealing(**given):
    return OptimizerConfig(optimizer="adam", use_distributed_optimizer=True), SchedulerConfig()


def distributed_fused_adam_with_cosine_annealing_samples(**given):
    return OptimizerConfig(optimizer="adam", use_distributed_optimizer=True), SchedulerConfig()


def distributed_muon_with_cosine_annealing(**given):
    return OptimizerConfig(optimizer="dist_muon"), SchedulerConfig()


def default_peft_config(peft_scheme=None, **given):
    if not isinstance(peft_scheme, str):
        return peft_scheme
    if peft_scheme.lower() == "lora":
        return LoRA(**given)
    if peft_scheme.lower() == "dora":
        return DoRA(**given)
    return None


class ParallelismAndBatchConfig:
    tensor_model_parallel_size: int = 1
    pipeline_model_parallel_size: int = 1
    context_parallel_size: int = 1
    virtual_pipeline_model_parallel_size: int = None
    expert_model_parallel_size: int = 1
    expert_tensor_parallel_size: int = None
    global_batch_size: int = 1
    micro_batch_size: int = 1

    def sequence_parallel_enabled(self):
        return self.tensor_model_parallel_size > 1


def set_parallelism_and_batch_configs(cfg, settings):
    cfg.model.tensor_model_parallel_size = settings.tensor_model_parallel_size
    cfg.model.pipeline_model_parallel_size = settings.pipeline_model_parallel_size
    cfg.model.context_parallel_size = settings.context_parallel_size
    cfg.model.virtual_pipeline_model_parallel_size = settings.virtual_pipeline_model_parallel_size
    cfg.model.expert_model_parallel_size = settings.expert_model_parallel_size
    cfg.model.expert_tensor_parallel_size = settings.expert_tensor_parallel_size
    cfg.model.sequence_parallel = settings.tensor_model_parallel_size > 1
    cfg.train.global_batch_size = settings.global_batch_size
    cfg.train.micro_batch_size = settings.micro_batch_size


def set_common_perf_overrides(recipe):
    recipe.ddp.check_for_nan_in_grad = False
    recipe.model.apply_rope_fusion = True
    recipe.model.cross_entropy_fusion_impl = "te"


def set_megatron_fsdp_overrides(recipe, **given):
    recipe.ddp.use_megatron_fsdp = True
    recipe.ddp.data_parallel_sharding_strategy = "optim_grads_params"
    recipe.ddp.average_in_collective = False
    recipe.model.gradient_accumulation_fusion = True
    recipe.optimizer.use_precision_aware_optimizer = False


def set_cuda_graph_overrides(recipe, cuda_graph_impl=None, cuda_graph_scope="full"):
    if cuda_graph_impl is not None:
        recipe.model.cuda_graph_impl = cuda_graph_impl
    recipe.model.cuda_graph_scope = cuda_graph_scope


def set_recompute_overrides(recipe, recompute_num_layers=None, cpu_offloading_num_layers=None):
    if recompute_num_layers is not None:
        recipe.model.recompute_granularity = "full"
        recipe.model.recompute_method = "block"
        recipe.model.recompute_num_layers = recompute_num_layers
    if cpu_offloading_num_layers is not None:
        recipe.model.cpu_offloading = True
        recipe.model.cpu_offloading_weights = False
        recipe.model.cpu_offloading_num_layers = cpu_offloading_num_layers


def set_moe_a2a_overlap_overrides(recipe):
    recipe.comm_overlap.overlap_moe_expert_parallel_comm = True
    recipe.comm_overlap.delay_wgrad_compute = True
    recipe.model.moe_shared_expert_overlap = False


def _perf_precision(compute_dtype):
    cfg = get_precision_config(compute_dtype)
    cfg.grad_reduce_in_fp32 = False
    return cfg


def _benchmark_common(cfg, cross_entropy_impl="te"):
    cfg.ddp.check_for_nan_in_grad = False
    cfg.ddp.grad_reduce_in_fp32 = False
    cfg.model.apply_rope_fusion = True
    cfg.model.cross_entropy_fusion_impl = cross_entropy_impl
    if not isinstance(cfg.mixed_precision, str):
        cfg.mixed_precision.grad_reduce_in_fp32 = False
