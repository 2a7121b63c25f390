#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// Returns the keys of `advice.yaml` for an out-of-memory error, from the functions that requested
/// the memory, innermost first: the loss, attention, an update, the loading of a checkpoint.
/// `stack`: as returned by `Traceback::stack`.
std::vector<std::string_view> out_of_memory_reasons(std::span<const std::string> stack);

}  // namespace stepwright::diagnose
