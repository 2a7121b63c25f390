#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// Returns a group number for each communicator of a log. Communicators with equal ranks and size
/// share a number; one whose ranks and size are both unknown has its own. Numbers follow the order
/// of ranks, then sizes, then communicators.
std::vector<std::int32_t> communicator_group_numbers(const CommunicationLog& log);

}  // namespace stepwright::logs
