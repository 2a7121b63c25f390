#pragma once

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// Measures the payload that TCP on this machine carries in total, in bytes/s: between two nodes
/// connected as in a lab but not shaped, in packets like those of shaped links, in both directions
/// for `seconds` on every core. A lab whose links together carry more than half of it measures the
/// machine, not the links. Fails as `Namespaces` does.
double tcp_capacity_bytes_per_s(double seconds);

/// The share of its rate that the slowest link of each kind attains, in payload, when all links are
/// busy.
struct BusyLinks {
  double nic = 1;  ///< Share of the slowest NIC; 1 if there is one node.
  double inside = 1;
};

/// Makes the lab and sends over all of its links at once for `seconds`: from each NIC to that of
/// the next node, and over the bus of each node. Fails as `Lab` does.
BusyLinks busy_links(const LabSpec& spec, double seconds);

}  // namespace stepwright::lab
