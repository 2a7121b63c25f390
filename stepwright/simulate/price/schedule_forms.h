#pragma once

#include <cstdint>
#include <span>

#include "stepwright/plan/plan.h"

namespace stepwright {

// Closed forms of schedules that have one. They save the pricer from playing turns and say nothing
// that the turns do not (a test holds them against each other); a schedule without any is played
// (`played_pipeline.h`).

/// Whether a kind of schedule has closed forms.
bool has_closed_form(ScheduleKind kind);

/// Where a chunk's waiting micro-batches are counted.
struct PipelinePosition {
  std::int64_t stages = 1;
  std::int64_t position = 0;
  std::int64_t micro_batches = 1;
};

/// Micro-batches of a position's chunk that wait for their backward when most of the position's
/// wait: gpipe m, 1f1b p-i, interleaved the first 2 (p-1-i) + (v-1) p + 1 forwards in their order,
/// p of a chunk at a time.
double waiting_micro_batches(const Schedule& schedule, const PipelinePosition& at,
                             std::int64_t chunk);

/// Seconds of one micro-batch through each position, and of a hop between them.
struct PipelineSeconds {
  std::span<const double> forward;
  std::span<const double> backward;
  /// Per chunk of a position: the most that any position takes for it, forward and backward.
  std::span<const double> slowest_chunk;
  double hop_s = 0;
};
/// Seconds of all micro-batches through the pipeline (docs/algorithms.md, "Pipelines").
double closed_pipeline_s(const Schedule& schedule, std::int64_t micro_batches,
                         const PipelineSeconds& seconds);

}  // namespace stepwright
