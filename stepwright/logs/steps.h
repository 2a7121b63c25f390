#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwright::logs {

/// A repetition in a list of calls: `period` calls that occur `repeats` times, starting at index
/// `first`.
struct CallRepetition {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t repeats = 0;  ///< Number of repetitions; 0: no repetition was found.
  [[nodiscard]] std::size_t end() const { return first + period * repeats; }
};

/// Finds the longest stretch of calls that repeats a period at least twice and ends at the last
/// call or a few calls before it (a checkpoint, a barrier). Equal calls have equal numbers in
/// `calls`. Whole periods are counted from the end, since earlier calls may be an incomplete period
/// or the start of a job.
CallRepetition find_call_repetition(std::span<const std::int32_t> calls);

}  // namespace stepwright::logs
