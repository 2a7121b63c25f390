#pragma once

#include <array>
#include <cstddef>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

inline constexpr std::size_t kTimeBreakdownTermCount = 9;

/// Names, for users, of the terms into which a step's time is broken down, in the order of
/// `breakdown_terms`.
inline constexpr std::array<const char*, kTimeBreakdownTermCount> kTermNames = {
    "computation",
    "pipeline bubble",
    "optimizer",
    "exposed tensor-parallel messages",
    "exposed context-parallel messages",
    "exposed expert-parallel messages",
    "exposed pipeline messages",
    "exposed data-parallel messages",
    "exposed copies to and from hosts"};

/// Returns the terms of a time breakdown in seconds, in a fixed order: compute, bubble, optimizer,
/// then exposed tensor, context, expert, pipeline and data messages, and copies to and from the
/// host.
constexpr std::array<double, kTimeBreakdownTermCount> breakdown_terms(const StageTimeBreakdown& b) {
  return {b.compute_s, b.bubble_s,   b.optimizer_s, b.tensor_s, b.context_s,
          b.expert_s,  b.pipeline_s, b.data_s,      b.host_s};
}

}  // namespace stepwright::simulate
