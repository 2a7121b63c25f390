#pragma once

#include <string>

namespace stepwright::cost {

/// Returns a hash of all figures that are compiled in: devices, clusters, generations, fits of
/// operators and of messages, conditions of training. Sixteen hexadecimal digits, equal on every
/// machine.
const std::string& constants_hash();

}  // namespace stepwright::cost
