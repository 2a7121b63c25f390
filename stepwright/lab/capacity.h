#pragma once

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// Measures the total bytes/s of TCP payload that this machine carries between two emulated nodes
/// without rate limits: in both directions, for `seconds`, on every core. If an emulated cluster's
/// links together carry more than half of this, runs measure the machine, not the links. Fails if
/// namespaces cannot be made.
double machine_tcp_bytes_per_s(double seconds);

/// Payload rate of the slowest link of each kind (NIC, bus inside a node) when all links of an
/// emulated cluster are busy, as a share of the link's nominal rate.
struct BusyLinkRateShares {
  double nic = 1;  ///< Share that the slowest NIC attains; 1 if there is one node.
  double inside = 1;
};

/// Builds an emulated cluster and sends over all of its links at once for `seconds`: from each NIC
/// to the next node's, and over the bus of each node. Fails with `kUnsupported` if this machine
/// lacks what is needed.
BusyLinkRateShares measure_busy_links(const EmulatedClusterSpec& spec, double seconds);

}  // namespace stepwright::lab
