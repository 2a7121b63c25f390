#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// The share of a device's memory bandwidth, and of its arithmetic, that an engine reaches: an
/// assumption, from the slowest to the fastest. No engine was measured for it.
inline constexpr double kSlowestShare = 0.3;
inline constexpr double kFastestShare = 0.7;
/// The most sequences that an engine works on at once: vLLM's max_num_seqs as verl starts it (verl
/// 0.9.1 verl/trainer/config/rollout/rollout.yaml).
inline constexpr std::int64_t kMostAtOnce = 256;

/// How long the generation of a step takes where nobody has measured it.
struct GenerationEstimate {
  double seconds = 0;  ///< Geometric mean of the two below.
  double low_s = 0;    ///< Seconds if engines reach `kFastestShare`.
  double high_s = 0;   ///< Seconds if engines reach `kSlowestShare`.
  std::int64_t engines = 0;
  std::int64_t at_once = 0;  ///< Sequences that an engine works on together.
};

/// Bytes of the caches of one sequence after so many tokens, over all layers.
double cache_bytes(const model::Architecture& model, double tokens);

/// Bytes of weights that an engine reads for one token of each of so many sequences: of routed
/// experts those that some sequence chooses.
double read_weight_bytes(const plan::Job& job, double sequences);

/// Estimates the generation of a step on so many devices, each with `room_bytes` for caches. One
/// token of all sequences takes as long as reading the weights and their caches, or as computing
/// it; prompts are computed; and no generation is shorter than its longest sequence alone.
GenerationEstimate estimated_generation(const plan::Job& job, std::int64_t devices,
                                        double room_bytes);

}  // namespace stepwright::phases
