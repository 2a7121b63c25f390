#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace stepwright::schedule {

struct PipelinePositionSizes;

/// Seconds of one micro-batch on each pipeline position, and of a hop (a message between two
/// neighbouring positions).
struct PipelinePositionSeconds {
  std::span<const double> forward;
  std::span<const double> backward;
  /// Seconds of forward and backward of each chunk of a position, on the slowest position for this
  /// chunk.
  std::span<const double> slowest_chunk;
  double hop_s = 0;

  /// Returns the seconds of one micro-batch through all positions and back:
  /// `micro_batch_round_trip_s` without messages between positions (hops), `round_trip_hops_s` only
  /// these messages.
  [[nodiscard]] double micro_batch_round_trip_s() const;
  [[nodiscard]] double round_trip_hops_s() const {
    return 2 * hop_s * static_cast<double>(forward.size() - 1);
  }
};

/// Closed forms of a pipeline schedule for positions that take different times. They give the
/// results of simulating the schedule turn by turn (a test compares both), but faster. A schedule
/// without closed forms is simulated.
struct PipelineClosedForms {
  /// Returns the seconds that all micro-batches need to pass through the pipeline
  /// (docs/algorithms.md, "Pipelines").
  double (*seconds)(std::int64_t micro_batches, const PipelinePositionSeconds&) = nullptr;
  /// Returns how many micro-batches of one chunk wait for their backward at the moment when most
  /// wait on the position.
  std::int64_t (*waiting)(const PipelinePositionSizes& at, std::int64_t chunk) = nullptr;
};

/// A pipeline whose positions all take equally long; times are seconds of a whole position for one
/// micro-batch.
struct UniformPipeline {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 2;  ///< Number of chunks per position, for schedules with several.
  double forward_s = 0;
  /// Seconds of data and weight gradients of a whole position for one micro-batch.
  double backward_s = 0;
  /// The part of `backward_s` in which weight gradients are computed, in seconds.
  double weight_s = 0;
  /// Seconds of a forward that overlaps a backward; nullopt: the sum of both. A forward that
  /// overlaps only data gradients takes the time of weight gradients less, but at least the longer
  /// one of the two; one that overlaps only weight gradients takes the sum.
  std::optional<double> paired_s;

  /// Returns the seconds of a forward and a backward: `forward_backward_pair_s` if they overlap,
  /// `both_s` one after the other.
  [[nodiscard]] double forward_backward_pair_s() const { return paired_s.value_or(both_s()); }
  [[nodiscard]] double both_s() const { return forward_s + backward_s; }
  /// True if a forward takes as long as data gradients and at least as long as weight gradients,
  /// and overlapping a forward and a backward does not lengthen them.
  [[nodiscard]] bool has_even_passes() const {
    return std::abs(forward_s - (backward_s - weight_s)) <= 1e-12 * backward_s &&
           weight_s <= forward_s && forward_backward_pair_s() <= both_s();
  }
};

}  // namespace stepwright::schedule
