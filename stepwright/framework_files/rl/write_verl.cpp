#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/rl/methods.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// Collects the NAME=VALUE words of a command, one per line.
class HydraWords {
 public:
  template <class Value>
  HydraWords& set(std::string_view name, const Value& value) {
    text_ += fmt::format("  {} \\\n", quoted_for_shell(fmt::format("{}={}", name, value)));
    return *this;
  }
  HydraWords& set(std::string_view name, bool value) {
    return set(name, std::string_view(value ? "True" : "False"));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void check_verl_pools(const plan::TrainingMethod& method) {
  const bool apart = method.rollout && method.rollout->devices > 0;
  for (const auto& [other, key] :
       {std::pair(apart, "rollout.devices"),
        {method.reference.place == plan::SecondModelPlace::kOther, "reference"},
        {method.critic.place == plan::SecondModelPlace::kOther, "critic"}}) {
    if (!other) continue;
    fail_unsupported(fmt::format(
        "objective.{}: verl.trainer.main_ppo trains and generates on the same devices", key));
  }
}

/// Adds words for the training method and its batch: verl/trainer/config/data/legacy_data.yaml,
/// actor/actor.yaml, rollout/rollout.yaml.
void add_verl_method(const plan::PlannedJob& planned, HydraWords& words) {
  const plan::Job& job = planned.job;
  const plan::TrainingMethod& method = job.method;
  const bool values = method.kind == plan::TrainingMethodKind::kPpo;
  const std::int64_t answers = values ? 1 : answers_per_prompt(job.sequences);
  const std::int64_t prompts = job.sequences / answers;
  const std::int64_t prompt = largest_prompt_tokens(job);
  words.set("algorithm.adv_estimator", values ? "gae" : "grpo");
  words.set("data.train_batch_size", prompts * method.updates);
  words.set("data.max_prompt_length", prompt);
  words.set("data.max_response_length", job.length - prompt);
  words.set("actor_rollout_ref.actor.ppo_mini_batch_size", prompts);
  words.set("actor_rollout_ref.actor.use_kl_loss",
            method.reference.place != plan::SecondModelPlace::kNone);
  const std::int64_t forward =
      method.forward_micro_batch > 0 ? method.forward_micro_batch : planned.plan.micro_batch;
  words.set("actor_rollout_ref.rollout.name", "vllm").set("actor_rollout_ref.rollout.n", answers);
  words.set("actor_rollout_ref.rollout.tensor_model_parallel_size",
            method.rollout ? method.rollout->tensor : 1);
  words.set("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", forward);
  words.set("actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", forward);
  if (!values) return;
  words.set("critic.model.path", exported_model_folder(job));
  words.set("critic.ppo_micro_batch_size_per_gpu", planned.plan.micro_batch);
}

/// Adds settings of FSDP: verl/trainer/config/engine/fsdp.yaml.
void add_verl_engine(const plan::PlannedJob& planned, HydraWords& words) {
  const plan::Plan& plan = planned.plan;
  const std::string actor = "actor_rollout_ref.actor.";
  const std::string engine = actor + "fsdp_config.";
  const bool inner = plan.sharding.uses(plan::StateShardingScope::kInner);
  words.set(actor + "strategy", "fsdp2");
  words.set(actor + "ppo_micro_batch_size_per_gpu", plan.micro_batch);
  words.set(actor + "ulysses_sequence_parallel_size", plan.parallel.context);
  words.set(engine + "fsdp_size", inner ? plan.sharding.group : -1);
  words.set(engine + "reshard_after_forward",
            plan.sharding.parameters != plan::StateShardingScope::kNone);
  words.set(engine + "offload_policy", plan.offload.optimizer > 0);
  const bool narrow = planned.job.kernels.masters == plan::MasterWeights::kNone;
  words.set(engine + "model_dtype", narrow ? "bf16" : "fp32");
  const bool wide = plan.accumulate == DType::kFp32;
  words.set("+" + engine + "mixed_precision.reduce_dtype", wide ? "fp32" : "bf16");
}

/// Adds settings of the model: verl/trainer/config/model/hf_model.yaml.
void add_verl_model(const plan::PlannedJob& planned, HydraWords& words) {
  const plan::Job& job = planned.job;
  const std::string model = "actor_rollout_ref.model.";
  words.set(model + "path", exported_model_folder(job)).set(model + "use_remove_padding", true);
  words.set(model + "enable_gradient_checkpointing",
            planned.plan.recompute.kind == plan::RecomputeKind::kFull);
  words.set(model + "enable_activation_offload", planned.plan.offload.offloads_layer_inputs());
  if (!job.model.adapters) return;
  const std::vector<std::string> modules =
      transformers_adapter_modules_only(job.model, "verl has target_modules");
  words.set(model + "lora_rank", job.model.adapters->rank);
  words.set(model + "lora_alpha", job.model.adapters->alpha);
  const bool all = !modules.empty() && modules.front() == "all-linear";
  words.set(model + "target_modules",
            all ? std::string("all-linear") : fmt::format("[{}]", fmt::join(modules, ",")));
}

}  // namespace

std::string write_verl(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  constexpr int kSteps = 100;
  const plan::Job& job = planned.job;
  check_verl_pools(job.method);
  HydraWords words;
  add_verl_method(planned, words);
  add_verl_model(planned, words);
  add_verl_engine(planned, words);
  words.set("trainer.nnodes", job.cluster.nodes);
  words.set("trainer.n_gpus_per_node", job.cluster.devices_per_node);
  words.set("trainer.total_training_steps", kSteps).set("trainer.logger", "console");
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n"
      "# Ray runs on every node; this starts on its head. examples/data_preprocess/gsm8k.py of "
      "verl\n"
      "# makes the data.\n"
      "DATA_ARGS=${{DATA_ARGS:-data.train_files=$HOME/data/gsm8k/train.parquet "
      "data.val_files=$HOME/data/gsm8k/test.parquet}}\n\n"
      "python3 -m verl.trainer.main_ppo \\\n{}  $DATA_ARGS \"$@\"\n",
      shell_comment_lines(header), words.text());
}

}  // namespace stepwright::framework_files
