#pragma once

#include <cstdint>
#include <span>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Bytes that a node's host holds of an offloaded optimizer: of every rank of the node the mean
/// over all ranks, with moments, parameters and gradients (`host_bytes_of_element`), of parameters
/// that lie there those that are fetched, and other models (`other_models`).
double host_bytes_of_node(const Job& job, const Plan& plan);

/// How the ranks of a pipeline lie on nodes.
struct NodeRanks {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;  ///< Between neighbours of a pipeline.
  std::int64_t of_node = 1;
};
NodeRanks node_ranks(const Job& job, const Plan& plan);

/// The most that the host of any node holds, where a rank has so much there by its pipeline
/// position.
double fullest_host_bytes(std::span<const double> of_rank, const NodeRanks& nodes);

}  // namespace stepwright::plan
