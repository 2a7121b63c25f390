#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace stepwright::schedule {

struct PipelineSize;

/// Seconds of one micro-batch on each pipeline position, and of a hop (a message between two
/// positions).
struct PipelineSeconds {
  std::span<const double> forward;
  std::span<const double> backward;
  /// For each chunk index: the seconds of the slowest position for that chunk, forward and
  /// backward.
  std::span<const double> slowest_chunk;
  double hop_s = 0;

  /// Seconds of one micro-batch through all positions and back: `through_s` without hops, `hops_s`
  /// the hops alone.
  [[nodiscard]] double through_s() const;
  [[nodiscard]] double hops_s() const {
    return 2 * hop_s * static_cast<double>(forward.size() - 1);
  }
};

/// Closed forms of a schedule for positions that take different times. They save the pricer from
/// simulating turns and give the same results (a test compares both). A schedule without closed
/// forms is simulated.
struct PipelineForm {
  /// Returns the seconds in which all micro-batches pass the pipeline (docs/algorithms.md,
  /// "Pipelines").
  double (*seconds)(std::int64_t micro_batches, const PipelineSeconds&) = nullptr;
  /// Number of micro-batches of one chunk that wait for their backward at the moment when the
  /// position has the most waiting.
  std::int64_t (*waiting)(const PipelineSize& at, std::int64_t chunk) = nullptr;
};

/// A pipeline whose positions all take equally long; times are seconds of a whole position for one
/// micro-batch.
struct UniformPipeline {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 2;  ///< Chunks of each position, for schedules with several.
  double forward_s = 0;
  double backward_s = 0;  ///< Seconds of data and weight gradients.
  double weight_s = 0;    ///< Share of `backward_s` that computes weight gradients.
  /// Seconds of a forward that overlaps a backward; nullopt: the sum of both. A forward that
  /// overlaps only data gradients takes the weight gradients' time less, but at least as long as
  /// the longer of the two; one that overlaps only weight gradients takes the sum.
  std::optional<double> paired_s;

  /// Seconds of a forward and a backward: `pair_s` overlapped, `both_s` one after the other.
  [[nodiscard]] double pair_s() const { return paired_s.value_or(both_s()); }
  [[nodiscard]] double both_s() const { return forward_s + backward_s; }
  /// True if a forward takes as long as data gradients and at least as long as weight gradients.
  [[nodiscard]] bool even() const {
    return std::abs(forward_s - (backward_s - weight_s)) <= 1e-12 * backward_s &&
           weight_s <= forward_s && pair_s() <= both_s();
  }
};

}  // namespace stepwright::schedule
