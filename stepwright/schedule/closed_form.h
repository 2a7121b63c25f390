#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace stepwright::schedule {

struct PipelinePositionSizes;

/// Seconds of one micro-batch on each pipeline rank, and of a hop (a message between two
/// neighbouring ranks).
struct PipelinePositionSeconds {
  std::span<const double> forward;
  std::span<const double> backward;
  /// For each chunk index on a pipeline rank: seconds of its forward and backward on the rank that
  /// is slowest for it.
  std::span<const double> slowest_chunk;
  double hop_s = 0;

  /// Returns the seconds of one micro-batch through all pipeline ranks and back, without messages.
  [[nodiscard]] double micro_batch_round_trip_s() const;
  /// Returns the seconds of all messages of one micro-batch through the pipeline and back.
  [[nodiscard]] double round_trip_hops_s() const {
    return 2 * hop_s * static_cast<double>(forward.size() - 1);
  }
};

/// Closed forms of a pipeline schedule for pipeline ranks that take different times. They give the
/// results of simulating the schedule entry by entry (a test compares both), but faster. A schedule
/// without closed forms is simulated.
struct PipelineClosedForms {
  /// Function that returns the seconds that all micro-batches of a step need to pass through the
  /// pipeline (docs/algorithms.md, "Pipelines").
  double (*seconds)(std::int64_t micro_batches, const PipelinePositionSeconds&) = nullptr;
  /// Function that returns how many micro-batches of one chunk wait for their backward at the
  /// moment when most micro-batches wait on the pipeline rank.
  std::int64_t (*waiting)(const PipelinePositionSizes& at, std::int64_t chunk) = nullptr;
};

/// A pipeline whose ranks all take equally long; times are seconds of all work of one pipeline rank
/// for one micro-batch.
struct UniformPipeline {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 2;  ///< Chunks per pipeline rank, for schedules with several.
  double forward_s = 0;
  /// Seconds of data and weight gradients of one pipeline rank for one micro-batch.
  double backward_s = 0;
  /// The part of `backward_s` in which weight gradients are computed, in seconds.
  double weight_s = 0;
  /// Seconds of a forward that overlaps a backward; nullopt: the sum of both. A forward that
  /// overlaps only data gradients takes the time of weight gradients less, but at least the longer
  /// one of the two; one that overlaps only weight gradients takes the sum.
  std::optional<double> paired_s;

  /// Returns the seconds of a forward and a backward: `paired_s` if they overlap, else their sum.
  [[nodiscard]] double forward_backward_pair_s() const { return paired_s.value_or(both_s()); }
  /// Returns the seconds of a forward and a backward, one after the other.
  [[nodiscard]] double both_s() const { return forward_s + backward_s; }
  /// True if a forward takes as long as data gradients and at least as long as weight gradients,
  /// and an overlapped forward and backward take no longer than both after each other.
  [[nodiscard]] bool has_even_passes() const {
    return std::abs(forward_s - (backward_s - weight_s)) <= 1e-12 * backward_s &&
           weight_s <= forward_s && forward_backward_pair_s() <= both_s();
  }
};

}  // namespace stepwright::schedule
