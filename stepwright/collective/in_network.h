#pragma once

#include <cstdint>

#include "stepwright/collective/closed_form.h"

namespace stepwright {

/// Switches that add and copy.
enum class AddingSwitches : std::uint8_t {
  kBetweenNodes,  ///< Of the network (SHARP); inside, ranks add.
  kEverywhere,    ///< Those inside nodes as well (NVLS).
};

/// Seconds of an all-reduce in which switches add: an assumed model, at its best, that no schedule
/// here runs. In C chunks each rank sums 1/m of a chunk inside, sends that out once and gets the
/// sum of all nodes back once, in one latency of the network, and passes it on inside:
///
///     a + e + g + (C-1) max(e, pace inside) + latencies, for the best C
///     e = start + V/(mC) on the rail
///     a = g = (m-1) (start + V/(mC) inside), pace a + g
///     kEverywhere: a = g = start + V/C inside, pace 2 start + (m+1)/m V/C inside: up once, the sum
///     of a part comes to its owner, goes up once and comes to all
///
/// Switches add at line rate, and have room for what is under way.
double in_network_seconds(AddingSwitches where, const GroupLinks& links, double payload_bytes);

}  // namespace stepwright
