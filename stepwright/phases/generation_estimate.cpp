#include "stepwright/phases/generation_estimate.h"

#include <algorithm>
#include <cmath>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/dtype.h"
#include "stepwright/model/parameters.h"
#include "stepwright/phases/generation.h"

namespace stepwright::phases {
namespace {

/// Bytes of stored elements.
double stored_bytes(const plan::Job& job, double elements) {
  return elements *
         static_cast<double>(bytes_of_elements(plan::parameter_storage_type(job.precision), 1));
}

/// Generated tokens of the longest sequence of a step.
double longest_answer(const plan::Job& job) {
  auto longest = static_cast<double>(job.length);
  if (job.documents) {
    longest = 0;
    for (const auto& [tokens, count] : job.documents->packs.documents) {
      longest = std::max(longest, static_cast<double>(tokens));
    }
  }
  return std::max(0.0, longest - job.method.rollout->prompt);
}

/// One generation engine, and its share of a step's sequences.
class Engine {
 public:
  Engine(const plan::Job& job, std::int64_t engines)
      : job_(job),
        tensor_(static_cast<double>(job.method.rollout->tensor)),
        cache_parts_(job.model.latent ? 1
                                      : std::min(tensor_, static_cast<double>(job.model.kv_heads))),
        prompt_(job.method.rollout->prompt) {
    const double all = static_cast<double>(job.method.updates) * sequences_per_policy_update(job);
    sequences_ = all / static_cast<double>(engines);
    answer_ = all > 0 ? generated_tokens_per_step(job) / all : 0;
  }

  /// Returns the number of sequences that the engine generates at once with `room_bytes` for caches
  /// on each device.
  [[nodiscard]] std::int64_t at_once(double room_bytes) const {
    const double each = sequence_kv_cache_bytes(job_.model, prompt_ + answer_) / cache_parts_;
    const double most =
        std::min(std::ceil(sequences_), static_cast<double>(kMaxConcurrentlyGeneratedSequences));
    const double held = each > 0 ? std::floor(std::max(0.0, room_bytes) / each) : most;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(most, held)));
  }

  /// Returns the seconds of the engine's share of a step; `share`: the share of its devices' rates
  /// that it reaches.
  [[nodiscard]] double seconds(std::int64_t at_once, double share) const {
    const auto together = static_cast<double>(at_once);
    const double tokens = sequences_ * answer_ / together;
    const double prompts_s = computed_s(sequences_ * prompt_, share);
    const double all_s = tokens * token_s(together, prompt_ + answer_ / 2, share) + prompts_s;
    const double longest = longest_answer(job_);
    return std::max(all_s, longest * token_s(1, prompt_ + longest / 2, share));
  }

 private:
  [[nodiscard]] double computed_s(double tokens, double share) const {
    const auto active = static_cast<double>(model::count_active_parameters(job_.model));
    return 2 * active * tokens /
           (tensor_ * cluster::dense_sixteen_bit_peak_flops(job_.cluster.device) * share);
  }

  /// Returns the seconds of one token for each of `sequences` sequences that have `tokens` tokens
  /// each.
  [[nodiscard]] double token_s(double sequences, double tokens, double share) const {
    const double bytes = weight_bytes_read_per_token(job_, sequences) / tensor_ +
                         sequences * sequence_kv_cache_bytes(job_.model, tokens) / cache_parts_;
    const double read_s = bytes / (job_.cluster.device.memory_bandwidth_bytes_per_s * share);
    return std::max(read_s, computed_s(sequences, share));
  }

  const plan::Job& job_;
  double tensor_;
  double cache_parts_;  ///< Number of parts into which a sequence's caches are split.
  double prompt_;       ///< Tokens of a sequence's prompt.
  double sequences_ = 0;
  double answer_ = 0;  ///< Mean tokens that a sequence generates.
};

}  // namespace

double sequence_kv_cache_bytes(const model::ModelArchitecture& model, double tokens) {
  constexpr double kBytes = 2;  // bytes of a cached number: 16 bits
  const double of_token =
      model.latent
          ? static_cast<double>(model.latent->kv_rank + model.latent->rope_head_dim)
          : static_cast<double>(model.kv_heads * (model.head_dim + model.value_head_elements()));
  double held = 0;
  for (const auto& [layer, count] : model.layer_counts_by_class()) {
    if (!layer.has_mixer(model::TokenMixer::kAttention)) continue;
    const double seen =
        layer.window > 0 ? std::min(tokens, static_cast<double>(layer.window)) : tokens;
    held += static_cast<double>(count) * seen;
  }
  return kBytes * of_token * held;
}

double weight_bytes_read_per_token(const plan::Job& job, double sequences) {
  const auto all = static_cast<double>(model::count_parameters(job.model));
  if (!job.model.experts) return stored_bytes(job, all);
  const auto count = static_cast<double>(job.model.experts->count);
  const auto chosen = static_cast<double>(job.model.experts->top_k);
  if (count <= chosen) return stored_bytes(job, all);
  const auto active = static_cast<double>(model::count_active_parameters(job.model));
  const double routed = (all - active) * count / (count - chosen);
  const double touched = 1 - std::pow(1 - chosen / count, sequences);
  return stored_bytes(job, all - routed + routed * touched);
}

RolloutTimeEstimate estimate_generation_time(const plan::Job& job, std::int64_t devices,
                                             double room_bytes) {
  RolloutTimeEstimate estimate{.engines = devices / job.method.rollout->tensor};
  const Engine engine(job, estimate.engines);
  const double longest_s = job.method.rollout->longest_s;
  estimate.at_once = engine.at_once(room_bytes);
  estimate.low_s = std::max(longest_s, engine.seconds(estimate.at_once, kMaxInferencePeakShare));
  estimate.high_s = std::max(longest_s, engine.seconds(estimate.at_once, kMinInferencePeakShare));
  estimate.seconds = std::sqrt(estimate.low_s * estimate.high_s);
  return estimate;
}

}  // namespace stepwright::phases
