#pragma once

#include <string>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cost {

/// Returns a sentence for users that states the board power limit (W) for which the device's clocks
/// under load are predicted; empty if the device's generation has no known usual limit.
std::string power_limit_sentence(const cluster::DeviceModel& device);

}  // namespace stepwright::cost
