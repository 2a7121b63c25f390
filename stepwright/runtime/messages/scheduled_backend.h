#pragma once

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/plan/plan.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Returns {ranks per node, nodes} of a group whose collectives run as this project's own schedules
/// of sends; {ranks, 1} if nodes have different numbers of the group's ranks; empty: the library
/// runs them, because `algorithm` is the library's or does not suit the group. Fails with
/// `kUnsupported` for an algorithm that suits the group but has no schedule that can run.
std::vector<std::int32_t> tier_sizes_of_scheduled_group(collective::CollectiveAlgorithm algorithm,
                                                        const std::vector<std::int64_t>& members,
                                                        const cluster::Cluster& cluster);

/// Creates a process group for host tensors whose collectives run as schedules of `algorithm`,
/// whatever their size; Gloo runs collectives that the algorithm does not cover. All members must
/// call this with the same name.
c10::intrusive_ptr<c10d::Backend> create_scheduled_collective_backend(
    const RankCommunicators::RankWorld& world, const std::string& name,
    const std::vector<std::int64_t>& members, const std::vector<std::int32_t>& tiers,
    collective::CollectiveAlgorithm algorithm);

/// Returns how many calls of a process group ran as this project's own schedules; 0 if the group
/// has none.
std::int64_t scheduled_call_count(const c10d::Backend& backend);

}  // namespace stepwright::runtime
