#pragma once

#include "stepwright/lab/spec.h"

namespace stepwright::lab {

/// The payload that TCP on this machine carries in all, in bytes/s: two nodes joined as in a lab
/// but not shaped, in packets as those of shaped links, busy both ways for `seconds` on every core.
/// A lab whose links carry more than half of it together measures the machine, not the links. Fails
/// as `Namespaces` does.
double tcp_capacity_bytes_per_s(double seconds);

/// The share of its rate that the slowest link of each kind keeps, in payload, when all are busy.
struct BusyLinks {
  double nic = 1;  ///< Share of the NICs; 1 if there is one node.
  double inside = 1;
};

/// Makes the lab and sends over all of its links at once for `seconds`: from each NIC to that of
/// the next node, and over the bus of each node. Fails as `Lab` does.
BusyLinks busy_links(const LabSpec& spec, double seconds);

}  // namespace stepwright::lab
