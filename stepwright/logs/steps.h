#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwright::logs {

/// The repetition of a list of calls: `repeats` times `period` calls from `first` on.
struct Repetition {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t repeats = 0;  ///< Number of repetitions; 0: nothing repeats.
  [[nodiscard]] std::size_t end() const { return first + period * repeats; }
};

/// The longest stretch that repeats a period at least twice and ends at the last call, or a few
/// before it (a checkpoint, a barrier). Calls that equal each other have equal numbers. Whole
/// periods are counted from the end: what comes before is an incomplete one or the start of a job.
Repetition find_repetition(std::span<const std::int32_t> calls);

}  // namespace stepwright::logs
