#pragma once

#include <string>

namespace stepwright::cost {

/// Returns a hash of all numbers compiled into the program: devices, clusters, device generations,
/// fitted operators and messages, training conditions. Sixteen hexadecimal digits, equal on every
/// machine. Answers state it, so that readers know with which constants they were computed.
const std::string& built_in_constants_hash();

}  // namespace stepwright::cost
