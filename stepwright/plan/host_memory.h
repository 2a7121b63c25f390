#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns a lower bound on the bytes of model states in the fullest host's memory: the mean over
/// all ranks, times the ranks of a node. Counts offloaded moments, parameters and gradients
/// (`host_update_bytes_per_parameter`), parameters kept on hosts, and other models
/// (`other_models`), in fractions of elements. `memory::MemoryReport::host_bytes` is exact.
double min_host_memory_bytes(const Job& job, const Plan& plan);

/// Host memory bandwidth, in bytes per second, of a cluster that states none: one socket with six
/// channels of DDR4-2933 (Intel ARK, Xeon Gold 6248).
inline constexpr double kAssumedHostMemoryBandwidth = 140.8e9;

/// Returns the host memory bandwidth of a node in bytes per second; `kAssumedHostMemoryBandwidth`
/// if the cluster states none.
double host_memory_bandwidth(const cluster::Cluster& cluster);

/// Numbers that say which pipeline ranks share a node: ranks in all, distance between neighbours,
/// ranks of a node.
struct PipelineNodePlacement {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;  ///< Distance between neighbouring pipeline ranks, in global ranks.
  std::int64_t of_node = 1;
};
PipelineNodePlacement node_ranks(const Job& job, const Plan& plan);

/// Returns, for the node whose host memory is fullest, how many of its ranks are at each pipeline
/// rank. `of_rank`: host bytes of a rank, by its pipeline rank.
std::vector<std::int64_t> pipeline_rank_counts_of_fullest_node(std::span<const double> of_rank,
                                                               const PipelineNodePlacement& nodes);
/// Returns the bytes in the fullest host's memory. `of_rank`: host bytes of a rank, by its pipeline
/// rank.
double fullest_node_host_memory_bytes(std::span<const double> of_rank,
                                      const PipelineNodePlacement& nodes);

}  // namespace stepwright::plan
