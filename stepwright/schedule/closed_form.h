#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace stepwright::schedule {

struct PipelineSize;

/// Seconds of one micro-batch through each position, and of a hop between them.
struct PipelineSeconds {
  std::span<const double> forward;
  std::span<const double> backward;
  /// Per chunk of a position: the most that any position takes for it, forward and backward.
  std::span<const double> slowest_chunk;
  double hop_s = 0;

  /// Seconds of a micro-batch through all positions and back, without and with the hops.
  [[nodiscard]] double through_s() const;
  [[nodiscard]] double hops_s() const {
    return 2 * hop_s * static_cast<double>(forward.size() - 1);
  }
};

/// Closed forms of a schedule on positions of any length. They save the pricer from playing turns
/// and say nothing that the turns do not (a test holds them against each other); a schedule without
/// any is played.
struct PipelineForm {
  /// Seconds of all micro-batches through the pipeline (docs/algorithms.md, "Pipelines").
  double (*seconds)(std::int64_t micro_batches, const PipelineSeconds&) = nullptr;
  /// Micro-batches of a position's chunk that wait for their backward when most of the position's
  /// wait.
  std::int64_t (*waiting)(const PipelineSize& at, std::int64_t chunk) = nullptr;
};

/// A pipeline whose positions all take as long: seconds of a whole position for one micro-batch.
struct UniformPipeline {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 2;  ///< Chunks of each position, for schedules with several.
  double forward_s = 0;
  double backward_s = 0;  ///< Seconds of data and weight gradients.
  double weight_s = 0;    ///< The weight gradients' part of `backward_s`.
  /// A forward beside a backward; nothing: their sum. Beside data gradients alone it takes the
  /// weight gradients' time less, and no less than the longer; beside those alone the sum.
  std::optional<double> paired_s;

  /// A forward and a backward, side by side and one after the other.
  [[nodiscard]] double pair_s() const { return paired_s.value_or(both_s()); }
  [[nodiscard]] double both_s() const { return forward_s + backward_s; }
  /// Whether a forward takes as long as data gradients and no less than weight gradients.
  [[nodiscard]] bool even() const {
    return std::abs(forward_s - (backward_s - weight_s)) <= 1e-12 * backward_s &&
           weight_s <= forward_s && pair_s() <= both_s();
  }
};

}  // namespace stepwright::schedule
