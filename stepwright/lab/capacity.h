#pragma once

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// Measures the total bytes/s of TCP payload that this machine carries between two emulated nodes
/// without rate limits: in both directions, for `seconds`, on every core. An emulated cluster whose
/// links together carry more than half of it measures the machine, not its links. Fails if
/// namespaces cannot be made.
double machine_tcp_bytes_per_s(double seconds);

/// The share of its nominal rate that the slowest link of each kind (NIC, bus inside a node)
/// attains, in payload, when all links of an emulated cluster are busy.
struct BusyLinkRateShares {
  double nic = 1;  ///< Share that the slowest NIC attains; 1 if there is one node.
  double inside = 1;
};

/// Builds an emulated cluster and sends over all of its links at once for `seconds`: from each NIC
/// to the next node's, and over the bus of each node. Fails with `kUnsupported` if this machine
/// lacks what is needed.
BusyLinkRateShares measure_busy_links(const EmulatedClusterSpec& spec, double seconds);

}  // namespace stepwright::lab
