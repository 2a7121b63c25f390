#pragma once

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/closed_form.h"

namespace stepwright::collective {

/// Returns the seconds of an all-reduce in which switches do the additions: an assumed, optimistic
/// model without a schedule. The buffer is cut into C chunks. Each rank sums 1/m of a chunk inside
/// its node, sends that sum out once, gets the sum of all nodes back once, with one network
/// latency, and passes it on inside the node:
///
///     a + e + g + (C-1) max(e, pace inside) + latencies, for the best C
///     e = start + V/(mC) on the rail
///     a = g = (m-1) (start + V/(mC) inside), pace a + g
///     kEverywhere: a = g = start + V/C inside, pace 2 start + (m+1)/m V/C inside: up once, the sum
///     of a part comes to its owner, goes up once and comes to all
///
/// with m ranks on each node, V bytes in the buffer, and the rail the links between ranks with
/// equal index on different nodes. `where` must be kBetweenNodes or kEverywhere. Switches add at
/// line rate, and have memory for all chunks in flight.
double in_network_all_reduce_seconds(cluster::InNetworkReductionSupport where,
                                     const GroupLinkRates& links, double payload_bytes);

}  // namespace stepwright::collective
