# What `utils/overrides.py` does with a workload, for files that are given without it.


def set_workload_base_configs(cfg, workload):
    cfg.model.tensor_model_parallel_size = workload.tensor_model_parallel_size
    cfg.model.pipeline_model_parallel_size = workload.pipeline_model_parallel_size
    cfg.model.context_parallel_size = workload.context_parallel_size
    cfg.model.virtual_pipeline_model_parallel_size = workload.virtual_pipeline_model_parallel_size
    cfg.model.expert_model_parallel_size = workload.expert_model_parallel_size
    cfg.model.expert_tensor_parallel_size = workload.expert_tensor_parallel_size
    cfg.model.sequence_parallel = workload.sequence_parallel
    cfg.train.global_batch_size = workload.global_batch_size
    cfg.train.micro_batch_size = workload.micro_batch_size
    if workload.use_megatron_fsdp:
        cfg.ddp.use_megatron_fsdp = True
        cfg.ddp.data_parallel_sharding_strategy = "optim_grads_params"
        cfg.ddp.average_in_collective = False
        cfg.model.gradient_accumulation_fusion = True
        cfg.optimizer.use_precision_aware_optimizer = False
    if workload.cuda_graph_impl is not None:
        cfg.model.cuda_graph_impl = workload.cuda_graph_impl
    if workload.cuda_graph_scope is not None:
        cfg.model.cuda_graph_scope = workload.cuda_graph_scope
    if workload.moe_a2a_overlap:
        cfg.comm_overlap.overlap_moe_expert_parallel_comm = True
        cfg.comm_overlap.delay_wgrad_compute = True
        cfg.model.moe_shared_expert_overlap = False
    if workload.cpu_offloading_num_layers is not None:
        cfg.model.cpu_offloading = True
        cfg.model.cpu_offloading_weights = False
        cfg.model.cpu_offloading_num_layers = workload.cpu_offloading_num_layers
    if workload.recompute_num_layers is not None:
        cfg.model.recompute_granularity = "full"
        cfg.model.recompute_method = "block"
        cfg.model.recompute_num_layers = workload.recompute_num_layers
    if workload.recompute_modules is not None:
        cfg.model.recompute_granularity = "selective"
        cfg.model.recompute_modules = workload.recompute_modules
    cfg.ddp.check_for_nan_in_grad = False
    cfg.model.apply_rope_fusion = True
    cfg.model.cross_entropy_fusion_impl = "te"
    return cfg
