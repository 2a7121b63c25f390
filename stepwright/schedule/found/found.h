#pragma once

#include <limits>

#include "stepwright/schedule/found/uneven_pipeline.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Returns the turns of each position, with whole or split backwards. The result is the shortest of
///
/// - the named schedules with this placement that memory has room for, unchanged and with every
///   backward split;
/// - list schedules: a position starts the first part that is ready, the one that a policy prefers
///   if several are, a weight gradient if nothing else is ready before it would end, and forwards
///   as long as kept memory is below a cap; over policies, caps by position, and numbers of first
///   and last backwards that are split;
/// - the shortest of those after changes: split backwards are joined where this lengthens nothing,
///   then parts are moved, split and joined one by one as long as the makespan shrinks.
///
/// Times are those of `ScheduleTurnSimulator`. The number of simulated parts is limited, and equal
/// pipelines give equal results. Returns no turns if list schedules are too long for any change to
/// bring them below `useful_s`. Throws `Error{kInput}` if a position has no room for one
/// micro-batch.
std::vector<Turns> find_shortest_schedule_turns(
    const UnevenPipeline& pipeline, double useful_s = std::numeric_limits<double>::infinity());

/// True if the order of a schedule is decided; false for an `auto` schedule without a basis, which
/// stands for the best order that exists.
inline bool is_schedule_order_decided(const PipelineSchedule& schedule) {
  return !traits_of(schedule.kind).found || !schedule.basis.chunks.empty();
}

/// Finds the turns (order of work) of an `auto` schedule for these numbers of positions and
/// micro-batches, and stores them in the schedule. Returns false if no order below `useful_s`
/// seconds is in reach.
bool cache_auto_schedule_turns(PipelineSchedule& schedule, std::int64_t positions,
                               std::int64_t micro_batches,
                               double useful_s = std::numeric_limits<double>::infinity());

/// Returns the seconds that a step of an `auto` schedule takes if its positions work in the order
/// of `turns`. The seconds of chunks come from the schedule's basis.
double auto_schedule_step_seconds(const PipelineSchedule& schedule, std::span<const Turns> turns);

/// Returns a lower bound of the seconds of every possible order of an `auto` schedule on
/// `positions` positions. The seconds of chunks come from the schedule's basis.
double lower_bound_s_over_all_orders(const PipelineSchedule& schedule, std::int64_t positions,
                                     std::int64_t micro_batches);

/// Returns, for each position, the most activations that are kept at any time, in units of one
/// micro-batch's activations on the position (`parts` forwards). Activations are kept until their
/// weight gradient is done; in an overlapped pair, the backward frees before the forward allocates.
std::vector<double> peak_kept_micro_batches_by_position(std::span<const Turns> turns, double parts);

}  // namespace stepwright::schedule
