#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The number of the group of each communicator: equal for those of the same ranks and size, of
/// which neither is known only for a communicator alone. Numbers follow the order of ranks, then of
/// sizes, then of communicators, so that who keys by them need not compare members call by call.
std::vector<std::int32_t> equal_groups(const Log& log);

}  // namespace stepwright::logs
