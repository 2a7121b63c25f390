#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// A group number for each communicator. Communicators with the same ranks and size share a number;
/// one whose ranks and size are unknown has a number of its own. Numbers follow the order of ranks,
/// then of sizes, then of communicators.
std::vector<std::int32_t> equal_groups(const Log& log);

}  // namespace stepwright::logs
