#pragma once

#include <limits>

#include "stepwright/schedule/found/uneven_pipeline.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

/// Turns by position, backwards whole or cut: the shortest of
///
/// - the named schedules with this placement for which there is room, as they are and with every
///   backward cut;
/// - lists: a position takes the first part that is ready, of several the one that a policy
///   prefers, weight gradients where nothing else can run before they would be done, forwards as
///   long as what it keeps is below a cap; over policies, caps by position, and how many of the
///   first and of the last backwards are cut;
/// - the shortest of those, with backwards made whole again where that makes nothing longer, and
///   then changed part by part as long as it gets shorter: moved, cut, made whole.
///
/// In the seconds of `TurnPlayer`, within a fixed number of played parts; the same for the same
/// pipeline. None where lists are already so long that no change would make them shorter than
/// `useful_s`. Throws `Error{kInput}` when a position has no room for one micro-batch.
std::vector<Turns> found_turns(const UnevenPipeline& pipeline,
                               double useful_s = std::numeric_limits<double>::infinity());

/// Whether a schedule has an order: `auto` without a basis stands for the best that there is.
inline bool is_settled(const Schedule& schedule) {
  return !traits_of(schedule.kind).found || !schedule.basis.chunks.empty();
}

/// Has the turns of an `auto` schedule found once for so many positions and micro-batches, as
/// `found_turns` finds them: false where they are not useful.
bool know_turns(Schedule& schedule, std::int64_t positions, std::int64_t micro_batches,
                double useful_s = std::numeric_limits<double>::infinity());

/// Seconds of the turns of an `auto` schedule, by its basis.
double order_s(const Schedule& schedule, std::span<const Turns> turns);

/// No order of an `auto` schedule is shorter on so many positions, in the seconds of its basis.
double least_order_s(const Schedule& schedule, std::int64_t positions, std::int64_t micro_batches);

/// The most activations that turns hold, by position, in those of one micro-batch through all of
/// the `parts` that it has there in each direction, each until its weight gradient is done; in a
/// pair the backward frees before the forward allocates.
std::vector<double> held_activations(std::span<const Turns> turns, double parts);

}  // namespace stepwright::schedule
