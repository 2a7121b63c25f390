#pragma once

#include "stepwright/step/schedules/list_scheduler.h"

namespace stepwright {

/// Turns with cut backwards, by position: the shortest of
///
/// - the named schedules with this placement that hold no more activations, backwards cut;
/// - lists: a position takes the first part that is ready, of several the one that a policy
///   prefers, weight gradients where nothing else can run before they would be done, forwards as
///   long as it holds less than a cap; over policies and caps by position;
/// - the shortest of those, turns moved one by one as long as it gets shorter.
///
/// By `TurnPlayer`, within a fixed number of played turns; the same for the same pipeline. Throws
/// `Error{kInput}` when a position may not hold one micro-batch.
std::vector<Turns> found_turns(const UnevenPipeline& pipeline);

/// The most activations that turns hold, by position, in the unit of `UnevenPipeline`.
std::vector<double> held_activations(std::span<const Turns> turns, std::int64_t chunks);

}  // namespace stepwright
