#pragma once

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/plan/plan.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// {ranks of a node, nodes} of a group in which the process group runs schedules of an algorithm,
/// because it suits its ranks, which stand node by node; {ranks, 1} where nodes have unlike
/// numbers; else empty, and the library runs all. Fails with `kUnsupported` for an algorithm that
/// suits the group and that the process group cannot run.
std::vector<std::int32_t> scheduled_tiers(collective::Algorithm algorithm,
                                          const std::vector<std::int64_t>& members,
                                          const cluster::Cluster& cluster);

/// A process group of host tensors whose collectives run as schedules of an algorithm, whatever
/// their size, and by Gloo where it does not cover them; all members make it under the same name.
c10::intrusive_ptr<c10d::Backend> scheduled_backend(const Groups::World& world,
                                                    const std::string& name,
                                                    const std::vector<std::int64_t>& members,
                                                    const std::vector<std::int32_t>& tiers,
                                                    collective::Algorithm algorithm);

/// How many calls of a process group ran as schedules; 0 for one of another kind.
std::int64_t scheduled_calls(const c10d::Backend& backend);

}  // namespace stepwright::runtime
