#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

template <class Value>
std::string trl_option(std::string_view name, const Value& value) {
  return fmt::format("  --{} {} \\\n", name, quoted_for_shell(fmt::format("{}", value)));
}

std::string_view trl_precision(DType precision) {
  if (precision == DType::kFp32) return "no";
  if (precision == DType::kFp8) return "fp8";
  return precision == DType::kFp16 ? "fp16" : "bf16";
}

/// Returns the options of accelerate launch for FSDP2 with a plan's degrees, or for plain data
/// parallelism: src/accelerate/commands/launch.py.
std::string launch_lines(const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  const plan::ParallelismDegrees& degrees = plan.parallel;
  std::string text =
      "accelerate launch --num_machines \"$NODES\" --machine_rank \"$NODE_RANK\" \\\n";
  text += "  --main_process_ip \"$MASTER_ADDR\" --main_process_port \"$MASTER_PORT\" \\\n";
  text += trl_option("num_processes", planned.job.cluster.devices());
  text += trl_option("mixed_precision", trl_precision(planned.job.precision));
  if (plan::sharding_letters(plan.sharding) == "NNN") return text + "  --multi_gpu \\\n";
  const bool inner = plan.sharding.uses(plan::StateShardingScope::kInner);
  const std::int64_t copies = inner ? degrees.data * degrees.context / plan.sharding.group : 1;
  text += "  --use_fsdp \\\n" + trl_option("fsdp_version", 2);
  text += trl_option("fsdp_reshard_after_forward",
                     plan.sharding.parameters != plan::StateShardingScope::kNone);
  text += trl_option("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  text += trl_option("fsdp_offload_params", needs_fsdp_cpu_offload(plan));
  text += trl_option("fsdp_state_dict_type", "SHARDED_STATE_DICT");
  text += "  --use_parallelism_config \\\n";
  text += trl_option("parallelism_config_dp_replicate_size", copies);
  text += trl_option("parallelism_config_dp_shard_size", degrees.data / copies);
  text += trl_option("parallelism_config_cp_size", degrees.context);
  if (degrees.context == 1) return text;
  const bool ring = plan.context_kind == plan::ContextKind::kRing;
  return text + trl_option("parallelism_config_cp_comm_strategy", ring ? "alltoall" : "allgather");
}

/// Returns the arguments that configure adapters: trl 1.16.0 trl/trainer/model_config.py.
std::string trl_adapters(const model::ModelArchitecture& model) {
  if (!model.adapters) return "";
  const model::LoraAdapters& adapters = *model.adapters;
  const std::vector<std::string> modules =
      transformers_adapter_modules_only(model, "TRL's scripts have lora_target_modules");
  std::string text = "  --use_peft \\\n" + trl_option("lora_r", adapters.rank) +
                     trl_option("lora_alpha", adapters.alpha) +
                     trl_option("lora_dropout", adapters.dropout) + "  --lora_target_modules";
  for (const std::string& module : modules) text += " " + quoted_for_shell(module);
  text += " \\\n";
  if (adapters.base == DType::kNf4) text += "  --load_in_4bit \\\n";
  if (adapters.base == DType::kFp8) text += "  --load_in_8bit \\\n";
  return text;
}

std::string_view trl_attention(const plan::PlannedJob& planned) {
  // Accelerate's context parallelism is PyTorch's, which requires scaled_dot_product_attention.
  if (planned.plan.parallel.context > 1) return "sdpa";
  const cluster::AttentionKernel kernel = planned.job.kernels.attention;
  if (kernel == cluster::AttentionKernel::kUnfused) return "eager";
  return kernel == cluster::AttentionKernel::kFlash3 ? "flash_attention_3" : "sdpa";
}

std::string training_lines(const plan::PlannedJob& planned, bool pairs) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  const std::int64_t of_each = pairs ? 2 : 1;
  std::string text = trl_option("model_name_or_path", exported_model_folder(job));
  text += trl_option("max_length", job.length);
  text += trl_option("per_device_train_batch_size",
                     std::max<std::int64_t>(1, plan.micro_batch / of_each));
  text += trl_option("gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan));
  text += trl_option("bf16", job.precision == DType::kBf16);
  text += trl_option("fp16", job.precision == DType::kFp16);
  text += trl_option("gradient_checkpointing", plan.recompute.kind == plan::RecomputeKind::kFull);
  if (plan.offload.offloads_layer_inputs()) text += trl_option("activation_offloading", true);
  text += trl_option("optim", transformers_optimizer_name(job.optimizer));
  text += trl_option("attn_implementation", trl_attention(planned));
  if (job.kernels.loss_keeps == plan::LossSavedTensors::kGradients) {
    text += trl_option("use_liger_kernel", true);
  }
  return text + trl_adapters(job.model);
}

}  // namespace

std::string write_trl(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const bool pairs = planned.job.method.kind == plan::TrainingMethodKind::kDpo;
  return torchrun_script_head(planned, header,
                              environment_shell_lines(needed_environment_settings(planned))) +
         fmt::format(
             "DATA_ARGS=${{DATA_ARGS:---dataset_name {}}}\n\n{}  -m trl.scripts.{} \\\n{}"
             "  --output_dir stepwright-output --max_steps 100 --logging_steps 1 \\\n"
             "  $DATA_ARGS \"$@\"\n",
             pairs ? "trl-lib/ultrafeedback_binarized"
                   : "trl-lib/Capybara --packing true --packing_strategy wrapped",
             launch_lines(planned), pairs ? "dpo" : "sft", training_lines(planned, pairs));
}

}  // namespace stepwright::framework_files
