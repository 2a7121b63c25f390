#include "stepwright/interleave/strand.h"

#include <algorithm>
#include <bit>
#include <set>

namespace stepwright::interleave {

std::vector<OperatorSet> transitive_operator_dependencies(const Strand& strand) {
  std::vector<OperatorSet> all;
  for (const InterleavedOperator& op : strand) {
    OperatorSet before = 0;
    for (const std::size_t other : op.after) before |= only(other) | all[other];
    all.push_back(before);
  }
  return all;
}

std::vector<OperatorSet> finished_operator_sets(const Strand& strand) {
  const std::vector<OperatorSet> needed = transitive_operator_dependencies(strand);
  std::vector<OperatorSet> ideals{0};
  std::set<OperatorSet> known{0};
  for (std::size_t next = 0; next < ideals.size(); ++next) {
    const OperatorSet done = ideals[next];
    for (std::size_t place = 0; place < strand.size(); ++place) {
      if (holds(done, place) || (needed[place] & ~done) != 0) continue;
      const OperatorSet larger = done | only(place);
      if (known.insert(larger).second) ideals.push_back(larger);
    }
  }
  std::ranges::stable_sort(ideals, {}, [](OperatorSet set) { return std::popcount(set); });
  return ideals;
}

}  // namespace stepwright::interleave
