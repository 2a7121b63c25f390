#include "stepwright/interleave/strand_states.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace stepwright::interleave {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

}  // namespace

FinishedOperatorStates::FinishedOperatorStates(const Strand& strand)
    : strand_(strand), sets_(finished_operator_sets(strand)) {
  std::unordered_map<OperatorSet, std::size_t> place;
  for (std::size_t i = 0; i < size(); ++i) place[sets_[i]] = i;
  const std::vector<OperatorSet> needed = transitive_operator_dependencies(strand);
  computations_.resize(size());
  collectives_.resize(size());
  next_.resize(size() * strand.size());
  for (std::size_t i = 0; i < size(); ++i) {
    remaining_.push_back(remaining_after(sets_[i]));
    for (std::size_t op = 0; op < strand.size(); ++op) {
      if (holds(sets_[i], op) || (needed[op] & ~sets_[i]) != 0) continue;
      (strand[op].is_collective() ? collectives_ : computations_)[i].push_back(op);
      next_[i * strand.size() + op] = place.at(sets_[i] | only(op));
    }
  }
  std::vector<std::size_t> found_at(size(), kNowhere);
  for (std::size_t i = 0; i < size(); ++i) extensions_.push_back(extend(i, found_at));
}

RemainingSeconds FinishedOperatorStates::remaining_after(OperatorSet done) const {
  RemainingSeconds left;
  for (std::size_t op = 0; op < strand_.size(); ++op) {
    if (holds(done, op)) continue;
    const InterleavedOperator& one = strand_[op];
    double& sum =
        one.is_collective() ? left.messages_s[static_cast<std::size_t>(one.link)] : left.compute_s;
    sum += one.seconds;
  }
  return left;
}

/// Returns the states that computations alone lead to. `found_at`: work space, which has no entry
/// set before and after the call.
std::vector<ComputationOnlyState> FinishedOperatorStates::extend(
    std::size_t from, std::vector<std::size_t>& found_at) const {
  std::vector<ComputationOnlyState> found{{from, 0, 0}};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const ComputationOnlyState here = found[next];
    for (const std::size_t op : computations_[here.state]) {
      const std::size_t larger = state_after_operator(here.state, op);
      if (found_at[larger] != kNowhere) {
        double& part_s = found[found_at[larger]].part_s;
        part_s = std::max(part_s, here.compute_s);
      } else {
        found_at[larger] = found.size();
        found.push_back({larger, here.compute_s + strand_[op].seconds, here.compute_s});
      }
    }
  }
  for (const ComputationOnlyState& one : found) found_at[one.state] = kNowhere;
  std::ranges::stable_sort(found.begin() + 1, found.end(), {}, &ComputationOnlyState::part_s);
  return found;
}

}  // namespace stepwright::interleave
