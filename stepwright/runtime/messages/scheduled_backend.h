#pragma once

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/plan/plan.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright {

/// {ranks of a node, nodes} of a group on nodes of so many devices, if its ranks on a node follow
/// each other, each node has as many, and both are at least 2; else empty: such groups stay rings.
std::vector<std::int32_t> two_tiers(const std::vector<std::int64_t>& members,
                                    std::int64_t devices_per_node);

/// A process group of host tensors whose all-reduce, all-gather and reduce-scatter run as schedules
/// of a method, whatever their size; all members make it under the same name.
c10::intrusive_ptr<c10d::Backend> scheduled_backend(const Groups::World& world,
                                                    const std::string& name,
                                                    const std::vector<std::int64_t>& members,
                                                    const std::vector<std::int32_t>& tiers,
                                                    Method method);

/// The method of an algorithm of plans (not kRing).
Method method_of(Algorithm algorithm);

/// How many calls of a process group ran as schedules; 0 for one of another kind.
std::int64_t scheduled_calls(const c10d::Backend& backend);

}  // namespace stepwright
