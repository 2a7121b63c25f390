#pragma once

#include <string>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cost {

/// Returns a sentence about the power limit under which a device's clocks are predicted; empty
/// where the usual limit of its generation is not known.
std::string clock_note(const cluster::Device& device);

}  // namespace stepwright::cost
