#pragma once

#include <string>
#include <variant>

#include "stepwright/cluster/cluster.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// The cluster of a row: the profile (a name or a file) that its column `cluster` says, or else the
/// profile of its GPU with the GPUs of a node, and with the NICs that its note states. Skips GPUs
/// that no profile covers, and numbers of GPUs that do not fill nodes.
std::variant<Cluster, Skipped> row_cluster(const RunRow& row);

/// Fails with `kInput` when a name is no built-in cluster and no file of one.
void require_cluster(const std::string& name);

/// NICs of a node as a note states them.
struct NodeNetwork {
  std::int64_t nics = 0;
  double nic_bytes_per_s = 0;  ///< 0: the note states no rate.
};

/// Reads "8x ConnectX-7 IB NDR 400Gb/s", "800 Gb/s per node", "400 Gb/s per GPU", "8x50 GB/s", and
/// a bare "200Gb/s" as one NIC of a node. Of several networks the one for computation counts.
NodeNetwork node_network(const std::string& note, std::int64_t gpus_per_node);

}  // namespace stepwright
