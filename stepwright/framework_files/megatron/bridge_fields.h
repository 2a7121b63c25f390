#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// The place of a field of Megatron in a ConfigContainer, when it is not in `model` under its name.
struct BridgeField {
  std::string_view field;
  std::string_view section;
  std::string_view name;
};
inline constexpr BridgeField kBridgeFields[] = {
    {"micro_batch_size", "train", "micro_batch_size"},
    {"global_batch_size", "train", "global_batch_size"},
    {"use_distributed_optimizer", "ddp", "use_distributed_optimizer"},
    {"overlap_grad_reduce", "ddp", "overlap_grad_reduce"},
    {"overlap_param_gather", "ddp", "overlap_param_gather"},
    {"bucket_size", "ddp", "bucket_size"},
    {"grad_reduce_in_fp32", "ddp", "grad_reduce_in_fp32"},
    {"num_distributed_optimizer_instances", "ddp", "num_distributed_optimizer_instances"},
    {"use_megatron_fsdp", "ddp", "use_megatron_fsdp"},
    {"data_parallel_sharding_strategy", "ddp", "data_parallel_sharding_strategy"},
    {"outer_dp_sharding_strategy", "ddp", "outer_dp_sharding_strategy"},
    {"optimizer", "optimizer", "optimizer"},
    {"sgd_momentum", "optimizer", "sgd_momentum"},
    {"use_precision_aware_optimizer", "optimizer", "use_precision_aware_optimizer"},
    {"optimizer_cpu_offload", "optimizer", "optimizer_cpu_offload"},
    {"optimizer_offload_fraction", "optimizer", "optimizer_offload_fraction"},
    {"overlap_cpu_optimizer_d2h_h2d", "optimizer", "overlap_cpu_optimizer_d2h_h2d"},
    {"exp_avg_dtype", "optimizer", "exp_avg_dtype"},
    {"exp_avg_sq_dtype", "optimizer", "exp_avg_sq_dtype"},
    {"ckpt_format", "checkpoint", "ckpt_format"},
    {"use_tp_pp_dp_mapping", "dist", "use_tp_pp_dp_mapping"},
    {"tp_comm_overlap", "comm_overlap", "tp_comm_overlap"},
    {"defer_embedding_wgrad_compute", "comm_overlap", "defer_embedding_wgrad_compute"},
    {"wgrad_deferral_limit", "comm_overlap", "wgrad_deferral_limit"},
    {"norm_epsilon", "model", "layernorm_epsilon"},
    {"hybrid_layer_pattern", "model", "hybrid_layer_pattern"},
    {"hybrid_layer_pattern", "model", "hybrid_override_pattern"},
    {"apply_layernorm_1p", "model", "layernorm_zero_centered_gamma"}};

/// A ConfigContainer of Megatron-Bridge as fields of Megatron.
struct BridgeFields {
  Tree fields = Tree::mapping();  ///< What is no field of Megatron stands under `section.name`.
  std::map<std::string, std::string> names;  ///< "train.micro_batch_size", by field.
  std::string assumed;                       ///< A field that no line says.
  bool whole = false;  ///< It states all there is, as the YAML that training writes does.
};

/// Sets the activation that `activation_func` and `gated_linear_unit` of a model are. Fails with
/// `kUnsupported` on one that no model has.
void set_bridge_activation(const Fields& model, Tree& fields);

/// Reads the sections of a ConfigContainer, whose classes and functions stand as `_target_`
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/config_utils.py). Fails with
/// `kUnsupported` on an activation that no model has.
BridgeFields bridge_fields(Node root);

/// Calls the settings of a report as the container does. Of a whole one, what is as Megatron has it
/// anyway is read, or left off the report where it changes no figure.
void report_bridge(const BridgeFields& bridge, ImportReport& report);

}  // namespace stepwright::framework_files
