#include <algorithm>

#include "stepwright/framework_files/rl/methods.h"

namespace stepwright::framework_files {
namespace {

/// Defaults in verl/trainer/config/data/legacy_data.yaml and actor/actor.yaml.
constexpr std::int64_t kVerlPrompts = 1024;
constexpr std::int64_t kVerlMiniBatch = 256;
constexpr std::int64_t kVerlPart = 512;

/// Returns the updates between two generations. The fully asynchronous trainer takes no batch of
/// prompts (0) and counts updates: verl/experimental/fully_async_policy/README.md.
std::int64_t verl_updates(const FrameworkSettingsReader& root,
                          const FrameworkSettingsReader& actor) {
  const bool fully_async = root.node().find("async_training").has_value();
  const std::int64_t prompts =
      root.nested_settings("data").integer("train_batch_size", kVerlPrompts, fully_async ? 0 : 1);
  const std::int64_t part = actor.integer("ppo_mini_batch_size", kVerlMiniBatch);
  std::int64_t updates = std::max<std::int64_t>(1, prompts / part);
  if (fully_async && prompts == 0) {
    const FrameworkSettingsReader settings = root.nested_settings("async_training");
    if (__builtin_mul_overflow(settings.integer("require_batches", 1),
                               settings.integer("trigger_parameter_sync_step", 1), &updates)) {
      settings.node().fail("updates between two generations are more than 2^63");
    }
  }
  return updates * actor.integer("ppo_epochs", 1);
}

/// Returns where the reference model is (verl/trainer/ppo/utils.py: need_reference_policy). FSDP
/// keeps a model that only runs forwards on the host
/// (verl/workers/engine/fsdp/transformer_impl.py); with adapters the reference is the base model.
plan::SecondModelPlace reference_place(const FrameworkSettingsReader& root,
                                       const FrameworkSettingsReader& policy,
                                       std::string_view engine) {
  const bool in_loss = policy.nested_settings("actor").flag("use_kl_loss", false);
  const bool in_reward = root.nested_settings("algorithm").flag("use_kl_in_reward", false);
  if (!in_loss && !in_reward) return plan::SecondModelPlace::kNone;
  if (engine != "megatron") return plan::SecondModelPlace::kHost;
  const bool offloads =
      policy.nested_settings("ref").nested_settings("megatron").flag("param_offload", false);
  return offloads ? plan::SecondModelPlace::kHost : plan::SecondModelPlace::kSame;
}

/// Returns the sequences of one forward (verl/trainer/config/rollout/rollout.yaml); 0: not stated.
std::int64_t forward_sequences(const FrameworkSettingsReader& root,
                               const FrameworkSettingsReader& rollout) {
  if (!rollout.flag("log_prob_use_dynamic_bsz", false)) {
    return rollout.integer("log_prob_micro_batch_size_per_gpu", 0);
  }
  const FrameworkSettingsReader data = root.nested_settings("data");
  const std::int64_t length =
      data.integer("max_prompt_length", kVerlPart) + data.integer("max_response_length", kVerlPart);
  const std::int64_t tokens = rollout.integer("log_prob_max_token_len_per_gpu", length);
  return std::max<std::int64_t>(1, tokens / length);
}

/// Returns the devices that only generate (verl/experimental, fully_async_ppo_trainer.yaml); 0:
/// none.
std::int64_t devices_apart(const FrameworkSettingsReader& rollout) {
  const auto nodes = rollout.size("nnodes");
  const auto each = rollout.size("n_gpus_per_node");
  return nodes && each ? *nodes * *each : 0;
}

}  // namespace

plan::TrainingMethod verl_training_method(const FrameworkSettingsReader& root,
                                          std::string_view engine) {
  constexpr std::int64_t kUsualTensor = 2;
  const FrameworkSettingsReader policy = root.nested_settings("actor_rollout_ref");
  const FrameworkSettingsReader rollout = policy.nested_settings("rollout");
  const FrameworkSettingsReader algorithm = root.nested_settings("algorithm");
  // The word does not count as read, so that one of a fork is reported.
  const auto said = algorithm.node().find("adv_estimator");
  const std::string estimator = said && !said->is_null() ? said->text() : "gae";
  plan::TrainingMethod method;
  // The rule is need_critic in verl/trainer/ppo/utils.py.
  const bool values = root.nested_settings("critic").flag("enable", estimator == "gae");
  method.kind = values ? plan::TrainingMethodKind::kPpo : plan::TrainingMethodKind::kGrpo;
  if (values) method.critic.place = plan::SecondModelPlace::kSame;
  method.updates = verl_updates(root, policy.nested_settings("actor"));
  method.old_log_probabilities =
      !algorithm.nested_settings("rollout_correction").flag("bypass_mode", false);
  method.reference.place = reference_place(root, policy, engine);
  method.forward_micro_batch = forward_sequences(root, rollout);
  const std::int64_t apart = devices_apart(root.nested_settings("rollout"));
  const auto prompt = root.nested_settings("data").integer("max_prompt_length", kVerlPart);
  method.rollout = plan::RolloutSettings{
      .prompt = static_cast<double>(prompt),
      .devices = apart,
      .tensor = rollout.integer("tensor_model_parallel_size", apart > 0 ? 1 : kUsualTensor)};
  return method;
}

}  // namespace stepwright::framework_files
