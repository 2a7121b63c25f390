#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwright::logs {

/// Result of searching a list of calls for a repetition: a sequence of `period` calls that occurs
/// `repeats` times in a row, starting at index `first`.
struct CallRepetition {
  std::size_t first = 0;
  std::size_t period = 0;
  /// How many times the sequence of calls occurs; 0: no repetition was found.
  std::size_t repeats = 0;
  [[nodiscard]] std::size_t end() const { return first + period * repeats; }
};

/// Finds the longest part of a list of calls that repeats one sequence at least twice and ends at
/// the last call or a few calls before it (a checkpoint, a barrier). Equal calls have equal numbers
/// in `calls`. Repeats are counted from the end, since earlier calls may be an incomplete sequence
/// or the start of a job.
CallRepetition find_call_repetition(std::span<const std::int32_t> calls);

}  // namespace stepwright::logs
