#include <algorithm>

#include "stepwright/framework_files/rl/methods.h"

namespace stepwright::framework_files {
namespace {

// Defaults of arguments in OpenRLHF/OpenRLHF openrlhf/cli/train_ppo_ray.py.
constexpr std::int64_t kModelNodes = 1;
constexpr std::int64_t kModelDevices = 8;
constexpr std::int64_t kTrainBatch = 128;
constexpr std::int64_t kUsualRollouts = 1024;
constexpr std::int64_t kRolloutPart = 1024;
constexpr double kUsualDivergence = 0.01;

/// Returns the devices of a model from its own arguments, which then count as read.
std::int64_t devices_of(const FrameworkSettingsReader& fields, std::string_view model) {
  const std::string name(model);
  return fields.integer(name + "_num_nodes", kModelNodes) *
         fields.integer(name + "_num_gpus_per_node", kModelDevices);
}

/// Returns the placement of a model: on the actor's devices, or on its own.
plan::SecondModel placed_model(const FrameworkSettingsReader& fields, std::string_view model,
                               bool shared) {
  if (shared) return {.place = plan::SecondModelPlace::kSame};
  return {.place = plan::SecondModelPlace::kOther, .devices = devices_of(fields, model)};
}

std::int64_t openrlhf_updates(const FrameworkSettingsReader& fields) {
  const std::int64_t samples = fields.integer("rollout_batch_size", kUsualRollouts) *
                               fields.integer("n_samples_per_prompt", 1);
  const std::int64_t updates = samples / fields.integer("train_batch_size", kTrainBatch);
  return std::max<std::int64_t>(1, updates) * fields.integer("max_epochs", 1);
}

/// Reads the generation engines, if `vllm_num_engines` is set. They share the devices of all other
/// models if all models share devices and training waits for generation.
plan::RolloutSettings engines_of(const FrameworkSettingsReader& fields, bool all_share) {
  plan::RolloutSettings rollout{
      .prompt = static_cast<double>(fields.integer("prompt_max_len", kRolloutPart)),
      .tensor = fields.integer("vllm_tensor_parallel_size", 1)};
  const std::int64_t engines = fields.integer("vllm_num_engines", 0, 0);
  if (engines == 0) rollout.tensor = 1;
  if (!all_share) rollout.devices = engines * rollout.tensor;
  return rollout;
}

}  // namespace

plan::TrainingMethod openrlhf_training_method(const FrameworkSettingsReader& fields) {
  plan::TrainingMethod method;
  const bool values = fields.word("advantage_estimator", "gae") == "gae";
  const bool all = fields.flag("colocate_all_models", false);
  const bool async = fields.flag("async_train", false);
  method.kind = values ? plan::TrainingMethodKind::kPpo : plan::TrainingMethodKind::kGrpo;
  method.updates = openrlhf_updates(fields);
  method.old_log_probabilities = true;
  method.forward_micro_batch = fields.integer("micro_rollout_batch_size", 0, 0);
  if (fields.number("init_kl_coef", kUsualDivergence) > 0) {
    method.reference = placed_model(fields, "ref", all || fields.flag("colocate_actor_ref", false));
    const bool here = method.reference.place == plan::SecondModelPlace::kSame;
    if (here && fields.flag("ref_offload", fields.flag("ref_reward_offload", false))) {
      method.reference.place = plan::SecondModelPlace::kHost;
    }
  }
  if (values) method.critic = placed_model(fields, "critic", all);
  method.staleness = async ? fields.integer("async_queue_size", 1) : 0;
  method.rollout = engines_of(fields, all && !async);
  return method;
}

}  // namespace stepwright::framework_files
