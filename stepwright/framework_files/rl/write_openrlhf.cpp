#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/rl/methods.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// Collects the arguments of a command, one per line.
class Arguments {
 public:
  template <class Value>
  Arguments& set(std::string_view name, const Value& value) {
    text_ += fmt::format("  --{} {} \\\n", name, quoted_for_shell(fmt::format("{}", value)));
    return *this;
  }
  Arguments& flag(std::string_view name, bool on) {
    if (on) text_ += fmt::format("  --{} \\\n", name);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Returns the ZeRO stage that shards a plan's states: openrlhf/utils/deepspeed/deepspeed_utils.py.
std::int64_t stage_of_states(const plan::Plan& plan) {
  const std::string states = plan::sharding_letters(plan.sharding);
  if (states == "NNN") return plan.offload.optimizer > 0 ? 1 : 0;
  if (states == "NNG") return 1;
  return states == "NGG" ? 2 : 3;
}

void add_openrlhf_engine(const plan::PlannedJob& planned, Arguments& arguments) {
  const plan::Plan& plan = planned.plan;
  const DType precision = planned.job.precision;
  arguments.set("ds.zero_stage", stage_of_states(plan));
  if (plan.sharding.uses(plan::StateShardingScope::kInner))
    arguments.set("ds.zpg", plan.sharding.group);
  arguments.flag("ds.adam_offload", plan.offload.optimizer > 0);
  arguments.flag("ds.overlap_comm", plan.overlap.gradients);
  arguments.set("ds.param_dtype", precision == DType::kFp16   ? "fp16"
                                  : precision == DType::kFp32 ? "fp32"
                                                              : "bf16");
  if (precision != DType::kFp32) {
    arguments.set("ds.grad_accum_dtype", name_of(kDTypeNames, plan.accumulate));
  }
  arguments.set("ds.tensor_parallel_size", plan.parallel.tensor);
  arguments.set("ds.ring_attn_size", plan.parallel.context);
  // Ring attention requires packed sequences: openrlhf/models/ring_attn_utils.py.
  arguments.flag("ds.packing_samples", plan.parallel.context > 1);
}

void add_openrlhf_adapters(const model::ModelArchitecture& model, Arguments& arguments) {
  if (!model.adapters) return;
  const std::vector<std::string> modules =
      transformers_adapter_modules_only(model, "OpenRLHF has ds.lora.target_modules");
  arguments.set("ds.lora.rank", model.adapters->rank);
  arguments.set("ds.lora.alpha", model.adapters->alpha);
  arguments.set("ds.lora.dropout", model.adapters->dropout);
  std::string words;
  for (const std::string& module : modules) words += " " + quoted_for_shell(module);
  arguments.flag("ds.lora.target_modules" + words, true);
}

/// Adds the placement of models, on the actor's devices or on nodes of their own:
/// openrlhf/cli/train_ppo_ray.py.
void add_openrlhf_pools(const plan::Job& job, Arguments& arguments) {
  const plan::TrainingMethod& method = job.method;
  const std::int64_t each = job.cluster.devices_per_node;
  const auto place = [&](std::string_view name, const plan::SecondModel& model) {
    const bool own = model.place == plan::SecondModelPlace::kOther;
    if (own && model.devices % each != 0) {
      fail_unsupported(fmt::format("objective.{}: {} devices do not fill whole nodes of {}", name,
                                   model.devices, each));
    }
    arguments.set(fmt::format("{}.num_nodes", name),
                  own ? model.devices / each : job.cluster.nodes);
    arguments.set(fmt::format("{}.num_gpus_per_node", name), each);
  };
  arguments.set("actor.num_nodes", job.cluster.nodes).set("actor.num_gpus_per_node", each);
  const bool reference = method.reference.place != plan::SecondModelPlace::kNone;
  const bool shared_critic = method.critic.place == plan::SecondModelPlace::kSame;
  const bool apart = method.rollout->devices > 0;
  const bool all = !apart || shared_critic;
  if (all && (method.reference.place == plan::SecondModelPlace::kOther ||
              method.critic.place == plan::SecondModelPlace::kOther)) {
    fail_unsupported(
        "objective: OpenRLHF shares the actor's devices with all models or with the "
        "reference alone");
  }
  if (all && apart && method.staleness == 0) {
    fail_unsupported(
        "objective.staleness 0: OpenRLHF's engines have devices of their own beside "
        "shared models where training does not wait for them");
  }
  if (reference) place("ref", method.reference);
  if (method.kind == plan::TrainingMethodKind::kPpo) place("critic", method.critic);
  arguments.flag("train.colocate_all", all);
  arguments.flag("train.colocate_actor_ref",
                 !all && reference && method.reference.place != plan::SecondModelPlace::kOther);
  arguments.flag("ref.offload", method.reference.place == plan::SecondModelPlace::kHost);
  const std::int64_t generating = apart ? method.rollout->devices : job.cluster.devices();
  if (generating % method.rollout->tensor != 0) {
    fail_unsupported(fmt::format("objective.rollout.tensor {} does not divide {} devices",
                                 method.rollout->tensor, generating));
  }
  arguments.set("vllm.num_engines", generating / method.rollout->tensor);
  arguments.set("vllm.tensor_parallel_size", method.rollout->tensor);
  if (!apart || method.staleness == 0) return;
  arguments.flag("train.async_enable", true).set("train.async_queue_size", method.staleness);
}

void add_openrlhf_policy(const plan::PlannedJob& planned, Arguments& arguments) {
  const plan::Job& job = planned.job;
  const plan::TrainingMethod& method = job.method;
  const bool values = method.kind == plan::TrainingMethodKind::kPpo;
  const std::int64_t answers = values ? 1 : answers_per_prompt(job.sequences);
  arguments.set("algo.advantage.estimator", values ? "gae" : "group_norm");
  arguments.set("algo.kl.init_coef",
                method.reference.place == plan::SecondModelPlace::kNone ? "0" : "0.01");
  arguments.set("rollout.batch_size", job.sequences * method.updates / answers);
  arguments.set("rollout.n_samples_per_prompt", answers);
  if (method.forward_micro_batch > 0) {
    arguments.set("rollout.micro_batch_size", method.forward_micro_batch);
  }
  arguments.set("rollout.max_new_tokens", job.length - largest_prompt_tokens(job));
  add_openrlhf_pools(job, arguments);
}

/// Adds the arguments that all trainers of OpenRLHF share; `part` is the name of their model.
void add_openrlhf_training(const plan::PlannedJob& planned, std::string_view part, bool pairs,
                           Arguments& arguments) {
  const plan::Job& job = planned.job;
  const std::int64_t of_each = pairs ? 2 : 1;
  arguments.set(fmt::format("{}.model_name_or_path", part), exported_model_folder(job));
  arguments.flag(fmt::format("{}.gradient_checkpointing_enable", part),
                 planned.plan.recompute.kind == plan::RecomputeKind::kFull);
  arguments.set("data.max_len", job.length);
  arguments.set("train.batch_size", job.sequences / of_each);
  arguments.set("train.micro_batch_size",
                std::max<std::int64_t>(1, planned.plan.micro_batch / of_each));
  const bool muon = job.optimizer == plan::Optimizer::kMuon;
  arguments.set(part == "actor" ? "actor.optim" : "optim", muon ? "muon" : "adam");
  add_openrlhf_adapters(job.model, arguments);
  add_openrlhf_engine(planned, arguments);
}

std::string openrlhf_tuning(const plan::PlannedJob& planned,
                            const std::vector<std::string>& header) {
  const bool pairs = planned.job.method.kind == plan::TrainingMethodKind::kDpo;
  Arguments arguments;
  add_openrlhf_training(planned, "model", pairs, arguments);
  const bool host = planned.job.method.reference.place == plan::SecondModelPlace::kHost;
  arguments.flag("ref.offload", pairs && host);
  return torchrun_script_head(planned, header,
                              environment_shell_lines(needed_environment_settings(planned))) +
         fmt::format(
             "DATA_ARGS=${{DATA_ARGS:---data.dataset {}}}\n\n{}  -m openrlhf.cli.train_{} \\\n{}"
             "  $DATA_ARGS \"$@\"\n",
             pairs ? "OpenRLHF/preference_dataset_mixture2_and_safe_pku --data.chosen_key chosen "
                     "--data.rejected_key rejected --data.apply_chat_template"
                   : "Open-Orca/OpenOrca --data.input_key question --data.output_key response",
             torchrun_command_lines(), pairs ? "dpo" : "sft", arguments.text());
}

}  // namespace

std::string write_openrlhf(const plan::PlannedJob& planned,
                           const std::vector<std::string>& header) {
  if (!plan::training_method_generates_sequences(planned.job.method.kind))
    return openrlhf_tuning(planned, header);
  Arguments arguments;
  add_openrlhf_training(planned, "actor", false, arguments);
  add_openrlhf_policy(planned, arguments);
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n"
      "# Ray runs on every node; this starts on its head.\n"
      "DATA_ARGS=${{DATA_ARGS:---data.prompt_dataset OpenRLHF/prompt-collection-v0.1 "
      "--data.input_key context_messages --data.apply_chat_template}}\n"
      "REWARD_ARGS=${{REWARD_ARGS:---reward.model_name_or_path "
      "OpenRLHF/Llama-3-8b-rm-700k}}\n\n"
      "python3 -m openrlhf.cli.train_ppo_ray \\\n{}  $REWARD_ARGS $DATA_ARGS \"$@\"\n",
      shell_comment_lines(header), arguments.text());
}

}  // namespace stepwright::framework_files
