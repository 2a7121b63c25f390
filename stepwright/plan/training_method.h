#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/named.h"

namespace stepwright::plan {

/// Training methods. kPretrain, kSft: the loss of the next token, and nothing beside it. kDpo:
/// preferences between two sequences against a frozen copy of the policy (arXiv 2305.18290). kGrpo:
/// rewards of groups of generated sequences (arXiv 2402.03300). kPpo: as kGrpo, with a trained
/// model of values (arXiv 1707.06347, 2203.02155).
enum class MethodKind : std::uint8_t { kPretrain, kSft, kDpo, kGrpo, kPpo };
inline constexpr Named<MethodKind> kMethodNames[] = {{MethodKind::kPretrain, "pretrain"},
                                                     {MethodKind::kSft, "sft"},
                                                     {MethodKind::kDpo, "dpo"},
                                                     {MethodKind::kGrpo, "grpo"},
                                                     {MethodKind::kPpo, "ppo"}};

/// Whether sequences are generated for each step.
constexpr bool generates(MethodKind kind) {
  return kind == MethodKind::kGrpo || kind == MethodKind::kPpo;
}

/// Where a second model of a step is. kNone: there is none. kSame: on the devices of the policy,
/// all the time. kHost: in the memory of their hosts, on the devices for its forwards alone.
/// kOther: on devices of its own, which work beside those of the policy.
enum class ModelPlace : std::uint8_t { kNone, kSame, kHost, kOther };
/// The words of it; kOther is said as a number of devices.
inline constexpr Named<ModelPlace> kModelPlaceNames[] = {
    {ModelPlace::kNone, "none"}, {ModelPlace::kSame, "same"}, {ModelPlace::kHost, "host"}};

struct SecondModel {
  ModelPlace place = ModelPlace::kNone;
  std::int64_t devices = 0;  ///< Devices of its own, with kOther.
  bool operator==(const SecondModel&) const = default;
};

/// The sequences that a step generates. How fast is given, not predicted.
struct Rollout {
  /// Tokens that one device generates in a second, many sequences at once; or
  std::optional<double> tokens_per_s;
  /// the time of all of them, on the devices that generate.
  std::optional<double> seconds;
  double longest_s = 0;  ///< Seconds of the longest sequence, which no more devices shorten.
  /// Seconds of both changes in a step, where devices train and generate in turns.
  double switch_s = 0;
  double prompt = 0;         ///< Tokens of a sequence, in the mean, that are not generated.
  std::int64_t devices = 0;  ///< Devices that generate and do not train; 0: those that train.
  std::int64_t tensor = 1;   ///< Devices that share one copy of the weights.
  bool operator==(const Rollout&) const = default;
};

/// Sequences of a phase go from one process to the devices that train, each filled up to the
/// longest that may come, as those of verl do (verl/protocol.py,
/// single_controller/base/decorator.py).
struct Dispatch {
  /// ray.put of 6,400 sequences of 20,480 tokens with all their tensors takes 19.86 s in threads
  /// (verl-project/verl, pull request 3495; 28.85 s before it).
  static constexpr double kTokenS = 19.86 / (6400.0 * 20480.0);

  std::int64_t padded = 0;  ///< Tokens of a sequence, prompt and padding included.
  double token_s = kTokenS;
  bool operator==(const Dispatch&) const = default;
};

/// The training method of a step and the work beside its updates. The batch of a job is that of one
/// update.
struct TrainingMethod {
  MethodKind kind = MethodKind::kPretrain;
  /// On the sequences of one step, one after the other. 0: forwards alone (`forwards_of`).
  std::int64_t updates = 1;
  bool old_log_probabilities = false;  ///< A forward of the policy before the updates.
  /// Sequences of a micro-batch where forwards alone are taken; 0: the plan's.
  std::int64_t forward_micro_batch = 0;
  SecondModel reference;  ///< A frozen policy, of which a forward is taken.
  SecondModel critic;     ///< A trained model of values, as large as the policy.
  /// Steps by which sequences may be older than the weights that they train; 0: generation waits.
  std::int64_t staleness = 1;
  std::optional<Rollout> rollout;
  std::optional<Dispatch> dispatch;
  bool operator==(const TrainingMethod&) const = default;
};

}  // namespace stepwright::plan
