#include "stepwright/logs/steps.h"

#include <algorithm>
#include <vector>

namespace stepwright::logs {
namespace {

/// Finds the longest suffix of a list that has a period of at most half its length, with Knuth,
/// Morris and Pratt's table for the reversed list.
CallRepetition repetition_to_the_end(std::span<const std::int32_t> calls,
                                     std::vector<std::uint32_t>& borders) {
  const std::size_t size = calls.size();
  const auto at = [&](std::size_t i) { return calls[size - 1 - i]; };
  borders.assign(size + 1, 0);
  CallRepetition best;
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < size; ++i) {
    while (border > 0 && at(i) != at(border)) border = borders[border];
    if (at(i) == at(border)) ++border;
    borders[i + 1] = border;
    const std::size_t period = i + 1 - border;
    if (2 * period <= i + 1) best = {.first = 0, .period = period, .repeats = (i + 1) / period};
  }
  best.first = size - best.period * best.repeats;
  return best;
}

}  // namespace

CallRepetition find_call_repetition(std::span<const std::int32_t> calls) {
  constexpr std::size_t kWork = 50'000'000;
  const std::size_t ends =
      std::min({calls.size() / 2 + 1, std::size_t{256}, kWork / (calls.size() + 1) + 1});
  CallRepetition best;
  std::vector<std::uint32_t> borders;
  for (std::size_t left_out = 0; left_out < ends; ++left_out) {
    const CallRepetition found =
        repetition_to_the_end(calls.subspan(0, calls.size() - left_out), borders);
    if (found.period * found.repeats > best.period * best.repeats) best = found;
  }
  return best;
}

}  // namespace stepwright::logs
