#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/adapter_words.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/model.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// A field of Megatron and the argument of `megatron sft` that sets it.
struct SwiftArgument {
  std::string_view field;
  std::string_view name;
  std::string_view value{};  ///< In the place of the field's.
};

/// modelscope/ms-swift swift/megatron/arguments/megatron_args.py: MegatronArguments.
constexpr SwiftArgument kSwiftArguments[] = {
    {"tensor_model_parallel_size", "tensor_model_parallel_size"},
    {"pipeline_model_parallel_size", "pipeline_model_parallel_size"},
    {"context_parallel_size", "context_parallel_size"},
    {"expert_model_parallel_size", "expert_model_parallel_size"},
    {"expert_tensor_parallel_size", "expert_tensor_parallel_size"},
    {"sequence_parallel", "sequence_parallel"},
    {"cp_comm_type", "cp_comm_type"},
    {"moe_token_dispatcher_type", "moe_token_dispatcher_type"},
    {"moe_flex_dispatcher_backend", "moe_enable_deepep", "true"},
    {"moe_shared_expert_overlap", "moe_shared_expert_overlap"},
    {"pipeline_model_parallel_layout", "pipeline_model_parallel_layout"},
    {"virtual_pipeline_model_parallel_size", "virtual_pipeline_model_parallel_size"},
    {"microbatch_group_size_per_vp_stage", "microbatch_group_size_per_vp_stage"},
    {"overlap_p2p_comm", "overlap_p2p_comm"},
    {"use_distributed_optimizer", "use_distributed_optimizer"},
    {"use_megatron_fsdp", "use_megatron_fsdp"},
    {"data_parallel_sharding_strategy", "data_parallel_sharding_strategy"},
    {"overlap_grad_reduce", "overlap_grad_reduce"},
    {"overlap_param_gather", "overlap_param_gather"},
    {"tp_comm_overlap", "tp_comm_overlap"},
    {"recompute_granularity", "recompute_granularity"},
    {"recompute_method", "recompute_method"},
    {"recompute_num_layers", "recompute_num_layers"},
    {"recompute_modules", "recompute_modules"},
    {"fp8", "fp8_format"},
    {"fp8_recipe", "fp8_recipe"},
    {"fp4", "fp4_format"},
    {"grad_reduce_in_fp32", "accumulate_allreduce_grads_in_fp32"},
    {"seq_length", "max_length"},
    {"micro_batch_size", "micro_batch_size"},
    {"global_batch_size", "global_batch_size"},
    {"optimizer", "optimizer"},
    {"sgd_momentum", "sgd_momentum"},
    {"use_precision_aware_optimizer", "use_precision_aware_optimizer"},
    {"optimizer_cpu_offload", "optimizer_cpu_offload"},
    {"optimizer_offload_fraction", "optimizer_offload_fraction"},
    {"exp_avg_dtype", "exp_avg_dtype"},
    {"exp_avg_sq_dtype", "exp_avg_sq_dtype"},
    {"attention_backend", "attention_backend"},
    {"cross_entropy_loss_fusion", "cross_entropy_loss_fusion"}};

/// Said by the model's folder, by `torch_dtype`, or by nothing, as all that hangs on it is a bucket
/// or a checkpoint.
constexpr std::array<std::string_view, 7> kSwiftUnwritten = {"vocab_size",
                                                             "make_vocab_size_divisible_by",
                                                             "group_query_attention",
                                                             "max_position_embeddings",
                                                             "precision",
                                                             "bucket_size",
                                                             "ckpt_format"};

/// Switches that are on there where nothing is said.
constexpr std::pair<std::string_view, std::string_view> kSwiftOff[] = {
    {"recompute_granularity", "none"},
    {"use_distributed_optimizer", "false"},
    {"cross_entropy_loss_fusion", "false"}};

std::string swift_value(const Tree& value) {
  if (value.kind != Tree::Kind::kSequence) {
    return quoted_for_shell(value.text);
  }
  std::string words;
  for (const Tree& item : value.items)
    words += (words.empty() ? "" : " ") + quoted_for_shell(item.text);
  return words;
}

std::string swift_lines(const Tree& fields, const model::Architecture& model) {
  Tree sizes = Tree::mapping();
  add_model_fields(sizes, model);
  std::string lines;
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const std::string& field = fields.items[i].text;
    if (sizes.find(field) != nullptr || std::ranges::count(kSwiftUnwritten, field) > 0) continue;
    const auto* known = std::ranges::find(kSwiftArguments, field, &SwiftArgument::field);
    const std::string value = swift_value(fields.items[i + 1]);
    if (known == std::end(kSwiftArguments)) {
      fail_unsupported(
          fmt::format("Megatron-LM's {} is {}: ms-swift has no such argument", field, value));
    }
    lines += fmt::format("  --{} {} \\\n", known->name,
                         known->value.empty() ? std::string_view(value) : known->value);
  }
  for (const auto& [name, off] : kSwiftOff) {
    if (fields.find(name) == nullptr) lines += fmt::format("  --{} {} \\\n", name, off);
  }
  return lines;
}

/// swift/arguments/tuner_args.py; swift/megatron/arguments/megatron_args.py: `full` is the usual
/// tuner.
std::string swift_adapters(const model::Architecture& model) {
  if (!model.adapters) return "";
  const model::Adapters& adapters = *model.adapters;
  return fmt::format(
      "  --tuner_type lora \\\n  --lora_rank {} \\\n  --lora_alpha {} \\\n  --lora_dropout {} "
      "\\\n  --target_modules {} \\\n",
      adapters.rank, adapters.alpha, adapters.dropout,
      fmt::join(listed_megatron_modules(model), " "));
}

/// swift/arguments/base_args: packing, packing_strategy, truncation_strategy.
std::string swift_packing(const plan::Job& job) {
  if (!job.documents) return "";
  const packing::Packing& packing = job.documents->packing;
  std::string lines;
  if (packing.kind != packing::PackingKind::kNone) lines += "  --packing true \\\n";
  if (packing.kind == packing::PackingKind::kGreedy)
    lines += "  --packing_strategy sequential \\\n";
  if (packing.too_long == packing::TooLong::kTruncate)
    lines += "  --truncation_strategy right \\\n";
  if (packing.too_long == packing::TooLong::kSplit) lines += "  --truncation_strategy split \\\n";
  return lines;
}

std::string_view swift_type(DType precision) {
  if (precision == DType::kFp32) return "float32";
  return precision == DType::kFp16 ? "float16" : "bfloat16";
}

/// MegatronArguments.__post_init__ sets CUDA_DEVICE_MAX_CONNECTIONS to 1 where it is not set, and
/// _check_megatron_fsdp refuses that.
std::vector<EnvironmentSetting> swift_settings(const plan::PlannedJob& planned) {
  std::vector<EnvironmentSetting> settings = needed_settings(planned);
  for (EnvironmentSetting& setting : settings) {
    if (setting.name != "CUDA_DEVICE_MAX_CONNECTIONS" || !setting.value.empty()) continue;
    setting.value = "32";
    setting.reason += "; ms-swift makes it 1 where it is not set";
  }
  return settings;
}

}  // namespace

std::string write_swift(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const Tree fields = megatron_fields(planned, "");
  std::string text = script_head(planned, header, shell_lines(swift_settings(planned)));
  text +=
      "DATA_ARGS=${DATA_ARGS:---dataset AI-ModelScope/alpaca-gpt4-data-en}\n"
      "TRAIN_ARGS=${TRAIN_ARGS:---train_iters 100 --lr 1e-5 --min_lr 1e-6 --output_dir "
      "stepwright-output}\n\n"
      "export NPROC_PER_NODE=\"$DEVICES_PER_NODE\" NNODES=\"$NODES\" NODE_RANK MASTER_ADDR "
      "MASTER_PORT\nmegatron sft \\\n";
  text +=
      fmt::format("  --model {} \\\n  --torch_dtype {} \\\n",
                  quoted_for_shell(model_folder(planned.job)), swift_type(planned.job.precision));
  text += swift_adapters(planned.job.model) + swift_packing(planned.job);
  return text + swift_lines(fields, planned.job.model) + "  $TRAIN_ARGS $DATA_ARGS \"$@\"\n";
}

}  // namespace stepwright::framework_files
