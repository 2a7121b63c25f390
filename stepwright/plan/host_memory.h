#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns a lower bound on the bytes of model states that the fullest host of the cluster holds:
/// the mean over all ranks, times the ranks of a node. Counts moments, parameters and gradients of
/// the offloaded optimizer (`host_bytes_of_element`), fetched parameters that are stored in host
/// memory, and other models (`other_models`). Shares of a rank are not cut down to whole elements.
/// `memory::MemoryReport::host_bytes` is the exact figure.
double least_host_bytes(const Job& job, const Plan& plan);

/// Assumed host memory bandwidth in bytes per second if the cluster states none: one socket with
/// six channels of DDR4-2933 (Intel ARK, Xeon Gold 6248).
inline constexpr double kAssumedHostBandwidth = 140.8e9;

/// Memory bandwidth of a node's host in bytes per second; assumed if the cluster states none.
double host_bandwidth(const cluster::Cluster& cluster);

/// How the ranks of a pipeline are placed on nodes.
struct NodeRanks {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;  ///< Distance, in ranks, between neighbours of a pipeline.
  std::int64_t of_node = 1;
};
NodeRanks node_ranks(const Job& job, const Plan& plan);

/// Number of ranks of each pipeline position on the node whose host holds the most bytes.
/// `of_rank`: host bytes of a rank, by its position.
std::vector<std::int64_t> fullest_host_ranks(std::span<const double> of_rank,
                                             const NodeRanks& nodes);
/// Host bytes of the ranks of `fullest_host_ranks`.
double fullest_host_bytes(std::span<const double> of_rank, const NodeRanks& nodes);

}  // namespace stepwright::plan
