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
/// Times are those of `TurnSimulator`. The number of simulated parts is limited, and equal
/// pipelines give equal results. Returns no turns if list schedules are too long for any change to
/// bring them below `useful_s`. Throws `Error{kInput}` if a position has no room for one
/// micro-batch.
std::vector<Turns> found_turns(const UnevenPipeline& pipeline,
                               double useful_s = std::numeric_limits<double>::infinity());

/// True if a schedule has an order: `auto` without a basis means the best order that exists.
inline bool is_settled(const Schedule& schedule) {
  return !traits_of(schedule.kind).found || !schedule.basis.chunks.empty();
}

/// Finds and caches the turns (the order of work) of an `auto` schedule for these numbers of
/// positions and micro-batches, as `found_turns` does; returns false if they are not useful.
bool cache_found_turns(Schedule& schedule, std::int64_t positions, std::int64_t micro_batches,
                       double useful_s = std::numeric_limits<double>::infinity());

/// Returns the seconds of an `auto` schedule whose positions work in the order of `turns`, with the
/// seconds of its basis.
double found_order_seconds(const Schedule& schedule, std::span<const Turns> turns);

/// Returns a lower bound of the seconds of every order of an `auto` schedule on `positions`
/// positions, with the seconds of its basis.
double least_order_s(const Schedule& schedule, std::int64_t positions, std::int64_t micro_batches);

/// Returns, for each position, the most activations that its turns keep, in units of one
/// micro-batch's activations on the position (`parts` forwards); each is kept until its weight
/// gradient is done. In an overlapped pair, the backward frees before the forward allocates.
std::vector<double> held_activations(std::span<const Turns> turns, double parts);

}  // namespace stepwright::schedule
