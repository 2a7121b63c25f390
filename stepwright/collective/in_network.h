#pragma once

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

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
/// `where` is one of these two. Switches add at line rate, and have room for what is under way.
double in_network_seconds(cluster::AddingSwitches where, const GroupLinks& links,
                          double payload_bytes);

}  // namespace stepwright::collective
