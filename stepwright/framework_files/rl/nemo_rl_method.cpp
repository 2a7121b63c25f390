#include "stepwright/framework_files/rl/nemo_rl_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/rl/methods.h"

namespace stepwright::framework_files {
namespace {

/// Returns the row of a method in `nemo_rl_methods.yaml`.
DocumentNode method_row(DocumentNode rows, std::string_view method) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DocumentNode methods = rows.at(i).get("methods");
    for (std::size_t k = 0; k < methods.size(); ++k) {
      if (methods.at(k).text() == method) return rows.at(i);
    }
  }
  fail_unsupported(fmt::format("objective.kind {}: NeMo-RL has no program for it", method));
}

/// Fails unless the reference model uses the policy's devices:
/// nemo_rl/models/policy/workers/megatron_policy_worker.py keeps its weights on the host and moves
/// them to the policy's devices for its forward.
void check_reference(const plan::TrainingMethod& method) {
  if (method.reference.place != plan::SecondModelPlace::kOther) return;
  fail_unsupported(fmt::format(
      "objective.reference {{devices: {}}}: NeMo-RL takes the reference's forwards on the devices "
      "of the policy",
      method.reference.devices));
}

/// Writes the devices that only generate: whole nodes in addition to those that train, or a part of
/// the single node (nemo_rl/algorithms/grpo.py: setup).
void write_pools(const plan::Job& job, DocumentTree& generation, DocumentTree& cluster) {
  const std::int64_t devices = job.method.rollout->devices;
  if (devices == 0) return;
  const std::int64_t per_node = job.cluster.devices_per_node;
  const bool part = job.cluster.nodes == 1 && devices < per_node;
  if (!part && devices % per_node != 0) {
    fail_unsupported(
        fmt::format("objective.rollout.devices {}: NeMo-RL generates on whole nodes of {} devices",
                    devices, per_node));
  }
  DocumentTree& colocated = *generation.find("colocated");
  colocated.set("enabled", false);
  DocumentTree& resources = *colocated.find("resources");
  resources.set("gpus_per_node", part ? devices : per_node);
  resources.set("num_nodes", part ? 1 : devices / per_node);
  if (part) cluster.set("gpus_per_node", per_node + devices);
  if (!part) cluster.set("num_nodes", job.cluster.nodes + devices / per_node);
}

void write_grpo(const plan::PlannedJob& planned, DocumentTree& file) {
  const plan::Job& job = planned.job;
  const plan::TrainingMethod& method = job.method;
  const std::int64_t sequences = job.sequences * method.updates;
  const std::int64_t generations = answers_per_prompt(sequences);
  const bool apart = method.rollout->devices > 0;
  DocumentTree& grpo = *file.find("grpo");
  grpo.set("num_prompts_per_step", sequences / generations);
  grpo.set("num_generations_per_prompt", generations);
  grpo.find("reward_shaping")->set("max_response_length", job.length);
  if (method.reference.place == plan::SecondModelPlace::kNone) {
    grpo.set("skip_reference_policy_logprobs_calculation", true);
    file.find("loss_fn")->set("reference_policy_kl_penalty", 0);
  }
  if (apart && method.staleness > 0) {
    DocumentTree& async = *grpo.find("async_grpo");
    async.set("enabled", true).set("max_trajectory_age_steps", method.staleness);
    file.find("loss_fn")->set("use_importance_sampling_correction", true);
  }
  DocumentTree& policy = *file.find("policy");
  const bool own = method.forward_micro_batch > 0;
  policy.set("logprob_batch_size", own ? method.forward_micro_batch : planned.plan.micro_batch);
  DocumentTree& generation = *policy.find("generation");
  generation.set("max_new_tokens", job.length);
  DocumentTree& engine = *generation.find("vllm_cfg");
  engine.set("precision", policy.find("precision")->text);
  engine.set("tensor_parallel_size", method.rollout->tensor).set("max_model_len", job.length);
  engine.set("async_engine", apart && method.staleness > 0);
  write_pools(job, generation, *file.find("cluster"));
}

/// Writes the batch for preference pairs: the file counts pairs, a plan two sequences for each
/// (nemo_rl/algorithms/dpo.py).
void write_pairs(const plan::PlannedJob& planned, DocumentTree& file) {
  DocumentTree& policy = *file.find("policy");
  policy.set("train_global_batch_size", planned.job.sequences / 2);
  policy.set("train_micro_batch_size", std::max<std::int64_t>(1, planned.plan.micro_batch / 2));
}

}  // namespace

std::string write_nemo_rl_method(const plan::PlannedJob& planned, DocumentTree& file) {
  const plan::TrainingMethod& method = planned.job.method;
  const YamlJsonDocument rows =
      YamlJsonDocument::parse(embedded_file_text("rl/nemo_rl_methods"), "nemo-rl");
  const DocumentNode row = method_row(rows.root(), name_of(plan::kMethodNames, method.kind));
  merge_mappings(file, row.get("file").copy_tree_with_file_positions());
  check_reference(method);
  if (method.kind == plan::TrainingMethodKind::kDpo) write_pairs(planned, file);
  if (method.kind == plan::TrainingMethodKind::kGrpo) write_grpo(planned, file);
  return row.get("program").text();
}

namespace {

/// Reads GRPO (nemo_rl/algorithms/grpo.py): the answers per prompt, and the updates per step.
plan::TrainingMethod read_grpo(const FrameworkSettingsReader& root, std::int64_t apart) {
  const FrameworkSettingsReader grpo = root.nested_settings("grpo");
  const FrameworkSettingsReader policy = root.nested_settings("policy");
  const FrameworkSettingsReader async = grpo.nested_settings("async_grpo");
  const std::int64_t answers =
      grpo.integer("num_prompts_per_step", 1) * grpo.integer("num_generations_per_prompt", 1);
  const std::int64_t batch = policy.integer("train_global_batch_size", answers);
  plan::TrainingMethod method{.kind = plan::TrainingMethodKind::kGrpo};
  method.updates = std::max<std::int64_t>(1, answers / batch);
  method.old_log_probabilities = true;
  method.forward_micro_batch = policy.integer("logprob_batch_size", 0);
  if (!grpo.flag("skip_reference_policy_logprobs_calculation", false)) {
    method.reference.place = plan::SecondModelPlace::kHost;
  }
  method.staleness =
      async.flag("enabled", false) ? async.integer("max_trajectory_age_steps", 1) : 0;
  const FrameworkSettingsReader engine =
      policy.nested_settings("generation").nested_settings("vllm_cfg");
  method.rollout =
      plan::RolloutSettings{.devices = apart, .tensor = engine.integer("tensor_parallel_size", 1)};
  return method;
}

}  // namespace

plan::TrainingMethod nemo_rl_training_method(const FrameworkSettingsReader& root,
                                             std::int64_t apart) {
  const auto has = [&](std::string_view section) {
    const auto found = root.node().find(section);
    return found && found->is_mapping();
  };
  if (has("grpo")) return read_grpo(root, apart);
  if (has("dpo")) {
    return {.kind = plan::TrainingMethodKind::kDpo,
            .reference = {.place = plan::SecondModelPlace::kHost}};
  }
  return {.kind =
              has("sft") ? plan::TrainingMethodKind::kSft : plan::TrainingMethodKind::kPretrain};
}

}  // namespace stepwright::framework_files
