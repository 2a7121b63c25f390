#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Assumed range of the share of a device's memory bandwidth and arithmetic that a generation
/// engine reaches. No engine was measured for it.
inline constexpr double kSlowestShare = 0.3;
inline constexpr double kFastestShare = 0.7;
/// Most sequences that an engine generates at once: vLLM's max_num_seqs as verl starts it (verl
/// 0.9.1 verl/trainer/config/rollout/rollout.yaml).
inline constexpr std::int64_t kMaxConcurrentSequences = 256;

/// Estimated time of a step's generation, used if no measured speed is given.
struct GenerationEstimate {
  double seconds = 0;  ///< Geometric mean of `low_s` and `high_s`.
  double low_s = 0;    ///< Seconds if engines reach `kFastestShare`.
  double high_s = 0;   ///< Seconds if engines reach `kSlowestShare`.
  std::int64_t engines = 0;
  std::int64_t at_once = 0;  ///< Sequences that an engine generates at once.
};

/// Returns the bytes of one sequence's caches after `tokens` tokens, over all layers.
double cache_bytes(const model::Architecture& model, double tokens);

/// Returns the bytes of weights that an engine reads for one token of each of `sequences`
/// sequences; of routed experts, only those that some sequence chooses.
double read_weight_bytes(const plan::Job& job, double sequences);

/// Estimates the generation of a step on `devices` devices, each with `room_bytes` for caches. One
/// token of all sequences takes as long as reading the weights and the sequences' caches, or as the
/// computation; prompts are computed; and generation takes at least as long as the longest sequence
/// alone.
GenerationEstimate estimated_generation(const plan::Job& job, std::int64_t devices,
                                        double room_bytes);

}  // namespace stepwright::phases
