#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Training methods. kPretrain, kSft: only the loss of the next token. kDpo: preferences between
/// two sequences against a frozen copy of the policy (arXiv 2305.18290). kGrpo: rewards of groups
/// of generated sequences (arXiv 2402.03300). kPpo: as kGrpo, with a trained value model (arXiv
/// 1707.06347, 2203.02155).
enum class MethodKind : std::uint8_t { kPretrain, kSft, kDpo, kGrpo, kPpo };
inline constexpr Named<MethodKind> kMethodNames[] = {{MethodKind::kPretrain, "pretrain"},
                                                     {MethodKind::kSft, "sft"},
                                                     {MethodKind::kDpo, "dpo"},
                                                     {MethodKind::kGrpo, "grpo"},
                                                     {MethodKind::kPpo, "ppo"}};

/// True if the method generates sequences for each step.
constexpr bool generates(MethodKind kind) {
  return kind == MethodKind::kGrpo || kind == MethodKind::kPpo;
}

/// Where a second model of a step is stored and runs. kNone: there is no second model. kSame: on
/// the policy's devices, all the time. kHost: in the memory of their hosts, on the devices only for
/// its forwards. kOther: on devices of its own, which work at the same time as the policy's.
enum class SecondModelPlace : std::uint8_t { kNone, kSame, kHost, kOther };
/// Words of `SecondModelPlace` in files; kOther is written as a number of devices.
inline constexpr Named<SecondModelPlace> kSecondModelPlaceNames[] = {
    {SecondModelPlace::kNone, "none"},
    {SecondModelPlace::kSame, "same"},
    {SecondModelPlace::kHost, "host"}};

struct SecondModel {
  SecondModelPlace place = SecondModelPlace::kNone;
  std::int64_t devices = 0;  ///< Number of its own devices, with kOther.
  bool operator==(const SecondModel&) const = default;
};

/// The generation of a step's sequences. Its speed is an input and not predicted.
struct Rollout {
  /// Tokens per second that one device generates, over many sequences at once; nullopt: `seconds`
  /// is set.
  std::optional<double> tokens_per_s;
  /// Seconds in which the generating devices generate all sequences of a step; nullopt:
  /// `tokens_per_s` is set.
  std::optional<double> seconds;
  double longest_s = 0;  ///< Seconds of the longest sequence, which more devices do not shorten.
  /// Seconds per step of both switches between training and generation on the same devices.
  double switch_s = 0;
  double prompt = 0;         ///< Mean prompt tokens of a sequence, which are not generated.
  std::int64_t devices = 0;  ///< Devices that only generate; 0: the training devices generate.
  std::int64_t tensor = 1;  ///< Devices over which one copy of the weights is split for generation.
  bool operator==(const Rollout&) const = default;
};

/// The dispatch of sequences from one process to the training devices, each sequence padded to the
/// longest possible one, as verl does (verl/protocol.py, single_controller/base/decorator.py).
struct Dispatch {
  /// Seconds per token: ray.put of 6,400 sequences of 20,480 tokens with all their tensors takes
  /// 19.86 s in threads (verl-project/verl, pull request 3495; 28.85 s before it).
  static constexpr double kRayPutSecondsPerToken = 19.86 / (6400.0 * 20480.0);

  std::int64_t padded = 0;  ///< Tokens of a padded sequence, prompt included.
  double token_s = kRayPutSecondsPerToken;
  bool operator==(const Dispatch&) const = default;
};

/// The training method: the work of a step besides its updates. A job's batch is that of one
/// update.
struct TrainingMethod {
  MethodKind kind = MethodKind::kPretrain;
  /// Number of updates on the sequences of one step, one after the other; 0: only forwards
  /// (`forwards_of`).
  std::int64_t updates = 1;
  bool old_log_probabilities = false;  ///< True if a forward of the policy runs before the updates.
  /// Sequences of a micro-batch in forward-only passes; 0: the plan's micro-batch.
  std::int64_t forward_micro_batch = 0;
  SecondModel reference;  ///< A frozen copy of the policy, which runs one forward.
  SecondModel critic;     ///< A trained value model, as large as the policy.
  /// Number of steps by which sequences may be older than the weights that train on them; 0:
  /// training waits for generation.
  std::int64_t staleness = 1;
  std::optional<Rollout> rollout;
  std::optional<Dispatch> dispatch;
  bool operator==(const TrainingMethod&) const = default;
};

}  // namespace stepwright::plan
