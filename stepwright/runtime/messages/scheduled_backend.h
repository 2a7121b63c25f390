#pragma once

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/plan/plan.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Returns {ranks of a node, nodes} for a group whose collectives run as schedules of an algorithm,
/// since it suits the group's ranks, which are ordered by node; {ranks, 1} where nodes have
/// different numbers of ranks; empty: the library runs all collectives. Fails with `kUnsupported`
/// for an algorithm that suits the group but that the process group cannot run.
std::vector<std::int32_t> scheduled_tiers(collective::Algorithm algorithm,
                                          const std::vector<std::int64_t>& members,
                                          const cluster::Cluster& cluster);

/// Returns a process group of host tensors whose collectives run as schedules of an algorithm,
/// whatever their size; collectives that the algorithm does not cover run by Gloo. All members make
/// it under the same name.
c10::intrusive_ptr<c10d::Backend> scheduled_backend(const Groups::World& world,
                                                    const std::string& name,
                                                    const std::vector<std::int64_t>& members,
                                                    const std::vector<std::int32_t>& tiers,
                                                    collective::Algorithm algorithm);

/// Returns how many calls of a process group ran as schedules; 0 for a group of another kind.
std::int64_t scheduled_calls(const c10d::Backend& backend);

}  // namespace stepwright::runtime
