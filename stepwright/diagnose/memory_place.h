#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// Reasons (keys of `advice.yaml`) of a device without memory by the functions in which it was
/// asked for, the innermost first: the loss, attention, an update, a checkpoint that is loaded.
/// `stack`: as `Traceback::stack` has it.
std::vector<std::string_view> memory_places(std::span<const std::string> stack);

}  // namespace stepwright::diagnose
