#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Training methods. kPretrain, kSft: next-token loss only. kDpo: preference between two sequences,
/// with a frozen reference policy (arXiv 2305.18290). kGrpo: rewards of groups of generated
/// sequences (arXiv 2402.03300). kPpo: rewards of generated sequences, with a trained value model
/// (arXiv 1707.06347, 2203.02155).
enum class TrainingMethodKind : std::uint8_t { kPretrain, kSft, kDpo, kGrpo, kPpo };
inline constexpr Named<TrainingMethodKind> kMethodNames[] = {
    {TrainingMethodKind::kPretrain, "pretrain"},
    {TrainingMethodKind::kSft, "sft"},
    {TrainingMethodKind::kDpo, "dpo"},
    {TrainingMethodKind::kGrpo, "grpo"},
    {TrainingMethodKind::kPpo, "ppo"}};

/// True if each step of the method generates sequences (GRPO, PPO).
constexpr bool training_method_generates_sequences(TrainingMethodKind kind) {
  return kind == TrainingMethodKind::kGrpo || kind == TrainingMethodKind::kPpo;
}

/// Where a second model of a step (reference or critic) is stored and runs. kNone: there is none.
/// kSame: on the policy's devices. kHost: in their hosts' memory, on the devices only during its
/// forwards. kOther: on devices of its own, at the same time as the policy.
enum class SecondModelPlace : std::uint8_t { kNone, kSame, kHost, kOther };
/// Words in files for where a second model runs; kOther is written as a number of devices.
inline constexpr Named<SecondModelPlace> kSecondModelPlaceNames[] = {
    {SecondModelPlace::kNone, "none"},
    {SecondModelPlace::kSame, "same"},
    {SecondModelPlace::kHost, "host"}};

struct SecondModel {
  SecondModelPlace place = SecondModelPlace::kNone;
  std::int64_t devices = 0;  ///< Devices that only the second model uses, with kOther; else 0.
  bool operator==(const SecondModel&) const = default;
};

/// Generation of a step's sequences in reinforcement learning. Its speed is stated by the user, not
/// predicted.
struct RolloutSettings {
  /// Tokens per second that one device generates over many sequences at once; nullopt: `seconds` is
  /// stated.
  std::optional<double> tokens_per_s;
  /// Seconds in which all sequences of a step are generated; nullopt: `tokens_per_s` is stated.
  std::optional<double> seconds;
  /// Seconds to generate the longest sequence, which more devices do not shorten.
  double longest_s = 0;
  /// Seconds per step to switch the same devices from training to generation and back.
  double switch_s = 0;
  double prompt = 0;  ///< Mean number of prompt tokens per sequence, which are not generated.
  std::int64_t devices = 0;  ///< Devices that only generate; 0: training devices generate.
  /// Number of devices over which generation splits one copy of the model's weights (tensor
  /// parallelism).
  std::int64_t tensor = 1;
  bool operator==(const RolloutSettings&) const = default;
};

/// The transfer of generated sequences from one process to the training devices, each padded to the
/// longest possible length, as verl does (verl/protocol.py, single_controller/base/decorator.py).
struct RolloutSequenceDispatch {
  /// Seconds per padded token of verl's dispatch: ray.put of 6,400 sequences of 20,480 tokens with
  /// all their tensors takes 19.86 s in threads (verl-project/verl, pull request 3495; 28.85 s
  /// before it).
  static constexpr double kRayPutSecondsPerToken = 19.86 / (6400.0 * 20480.0);

  /// Number of tokens of a padded sequence that is sent to the training devices, prompt and answer.
  std::int64_t padded = 0;
  double token_s = kRayPutSecondsPerToken;
  bool operator==(const RolloutSequenceDispatch&) const = default;
};

/// The training method of a job and the work of a step beside its updates (generation, reference,
/// critic). The job's batch is that of one update.
struct TrainingMethod {
  TrainingMethodKind kind = TrainingMethodKind::kPretrain;
  /// Number of updates, one after the other, on the sequences of one step; 0: a step only runs
  /// forwards (`forward_only_program`).
  std::int64_t updates = 1;
  /// True if each step first runs a forward of the policy for the old log-probabilities.
  bool old_log_probabilities = false;
  /// Sequences per micro-batch in forward-only passes; 0: as in the plan.
  std::int64_t forward_micro_batch = 0;
  SecondModel reference;  ///< Frozen copy of the policy, which runs one forward per step.
  SecondModel critic;     ///< Trained value model (PPO), as large as the policy.
  /// Number of steps by which generated sequences may lag behind the trained weights; 0: training
  /// waits for generation.
  std::int64_t staleness = 1;
  std::optional<RolloutSettings> rollout;
  std::optional<RolloutSequenceDispatch> dispatch;
  bool operator==(const TrainingMethod&) const = default;
};

}  // namespace stepwright::plan
