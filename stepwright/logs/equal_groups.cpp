#include "stepwright/logs/equal_groups.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace stepwright::logs {

std::vector<std::int32_t> communicator_group_numbers(const CommunicationLog& log) {
  std::vector<std::int32_t> order(log.communicators.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t id) {
    const LogCommunicator& group = log.communicators[static_cast<std::size_t>(id)];
    const bool unknown = group.ranks.empty() && group.size == 0;
    return std::tuple<const std::vector<std::int64_t>&, std::int64_t, std::int32_t>(
        group.ranks, group.size, unknown ? id : -1);
  };
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<std::int32_t> numbers(order.size());
  std::int32_t number = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && key(order[i - 1]) < key(order[i])) ++number;
    numbers[static_cast<std::size_t>(order[i])] = number;
  }
  return numbers;
}

}  // namespace stepwright::logs
