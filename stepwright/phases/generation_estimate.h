#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Smallest share of a device's peak memory bandwidth and FLOP/s that an inference engine is
/// assumed (not measured) to reach; the next constant is the largest share.
inline constexpr double kMinInferencePeakShare = 0.3;
inline constexpr double kMaxInferencePeakShare = 0.7;
/// The most sequences that an inference engine generates at once: vLLM's max_num_seqs as verl sets
/// it (verl 0.9.1 verl/trainer/config/rollout/rollout.yaml).
inline constexpr std::int64_t kMaxConcurrentlyGeneratedSequences = 256;

/// Estimated time in which inference engines generate a step's sequences, for jobs that state no
/// measured speed.
struct RolloutTimeEstimate {
  /// Expected seconds in which a step's sequences are generated: the geometric mean of `low_s` and
  /// `high_s`.
  double seconds = 0;
  double low_s =
      0;  ///< Seconds if engines reach the share `kMaxInferencePeakShare` of the device's peaks.
  double high_s =
      0;  ///< Seconds if engines reach the share `kMinInferencePeakShare` of the device's peaks.
  std::int64_t engines = 0;
  std::int64_t at_once = 0;  ///< Number of sequences that one inference engine generates at once.
};

/// Returns the bytes of the KV cache (or recurrent state) of one sequence after `tokens` tokens,
/// over all layers.
double sequence_kv_cache_bytes(const model::ModelArchitecture& model, double tokens);

/// Returns the bytes of weights that an inference engine reads to generate one token for each of
/// `sequences` sequences. Routed experts count only if some sequence chooses them.
double weight_bytes_read_per_token(const plan::Job& job, double sequences);

/// Estimates the seconds in which `devices` devices generate a step's sequences; `room_bytes`:
/// memory of each device for KV caches. Prompts are computed first. A token of all sequences then
/// takes as long as reading weights and caches or as computing, whichever is longer. The longest
/// sequence alone is a lower bound.
RolloutTimeEstimate estimate_generation_time(const plan::Job& job, std::int64_t devices,
                                             double room_bytes);

}  // namespace stepwright::phases
