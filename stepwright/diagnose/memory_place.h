#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// Returns keys of `advice.yaml` that fit an out-of-memory error, from the functions that requested
/// the memory, innermost first: the loss, attention, an optimizer update, loading a checkpoint.
/// `stack`: file, function and code of each frame, outermost first (`traceback_frames`).
std::vector<std::string_view> out_of_memory_reasons(std::span<const std::string> stack);

}  // namespace stepwright::diagnose
