#pragma once

#include <limits>

#include "stepwright/schedule/found/uneven_pipeline.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Returns the turns of each pipeline rank, backwards whole or split. The result is the shortest of
///
/// - the named schedules with this placement that memory has room for, unchanged and with every
///   backward split;
/// - list schedules: a rank starts the first work that is ready, the one that a policy prefers
///   if several are, a weight gradient if nothing else is ready before it would end, and forwards
///   as long as kept memory is below a cap; over policies, caps by rank, and numbers of first
///   and last backwards that are split;
/// - the shortest of those after changes: split backwards are joined where this lengthens nothing,
///   then work items are moved, split and joined one by one as long as the makespan shrinks.
///
/// Times are those of `ScheduleTurnSimulator`. The number of simulated items is limited, and equal
/// pipelines give equal results. Returns no turns if list schedules are too long for any change to
/// bring them below `useful_s`. Throws `Error{kInput}` if a rank has no room for one
/// micro-batch.
std::vector<Turns> find_shortest_schedule_turns(
    const UnevenPipeline& pipeline, double useful_s = std::numeric_limits<double>::infinity());

/// True if the order of work of a schedule is decided. False for an `auto` schedule that holds no
/// times of chunks to search with (`PipelineSchedule::basis`), which stands for the best order that
/// exists.
inline bool is_schedule_order_decided(const PipelineSchedule& schedule) {
  return !traits_of(schedule.kind).found || !schedule.basis.chunks.empty();
}

/// Finds the turns (order of work) of an `auto` schedule for these numbers of pipeline ranks and
/// micro-batches, and stores them in the schedule. Returns false if no order below `useful_s`
/// seconds is in reach.
bool cache_auto_schedule_turns(PipelineSchedule& schedule, std::int64_t positions,
                               std::int64_t micro_batches,
                               double useful_s = std::numeric_limits<double>::infinity());

/// Returns the seconds that a step of an `auto` schedule takes if its pipeline ranks work in the
/// order of `turns`. The seconds of chunks come from the schedule (`PipelineSchedule::basis`).
double auto_schedule_step_seconds(const PipelineSchedule& schedule, std::span<const Turns> turns);

/// Returns a lower bound of the seconds of every possible order of an `auto` schedule on
/// `positions` pipeline ranks. The seconds of chunks come from the schedule
/// (`PipelineSchedule::basis`).
double lower_bound_s_over_all_orders(const PipelineSchedule& schedule, std::int64_t positions,
                                     std::int64_t micro_batches);

/// Returns, for each pipeline rank, the most activations that are kept at any time, in units of one
/// micro-batch's activations on the rank (`parts` forwards). Activations are kept until their
/// weight gradient is done; in an overlapped pair, the backward frees before the forward allocates.
std::vector<double> peak_kept_micro_batches_by_position(std::span<const Turns> turns, double parts);

}  // namespace stepwright::schedule
