#pragma once

#include <unordered_map>
#include <vector>

#include "stepwright/interleave/strand.h"

namespace stepwright::interleave {

/// Counts the orders of all operators that respect the dependences.
inline std::uint64_t count_orders(const Strand& strand) {
  const std::vector<OperatorSet> needed = transitive_operator_dependencies(strand);
  const std::vector<OperatorSet> ideals = finished_operator_sets(strand);
  std::unordered_map<OperatorSet, std::uint64_t> orders{{0, 1}};
  for (const OperatorSet done : ideals) {
    for (std::size_t place = 0; place < strand.size(); ++place) {
      if (holds(done, place) || (needed[place] & ~done) != 0) continue;
      orders[done | only(place)] += orders[done];
    }
  }
  return orders[ideals.back()];
}

}  // namespace stepwright::interleave
