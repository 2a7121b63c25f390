#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stepwright/interleave/block.h"
#include "stepwright/interleave/strand.h"

namespace stepwright::interleave {

/// Seconds of computation and of messages that a forward or backward still has to do.
struct RemainingSeconds {
  double compute_s = 0;
  LinkSeconds messages_s{};
};

/// A later state (set of finished operators) of a forward or backward that can be reached by
/// computations alone, without a collective.
struct ComputationOnlyState {
  std::size_t state = 0;
  double compute_s = 0;
  /// Most seconds of computation on the way to this state that can lie before the start of its last
  /// operator.
  double part_s = 0;
};

/// All states of one forward or backward (sets of finished operators, small ones first) and the
/// steps between them.
class FinishedOperatorStates {
 public:
  /// Finds all states of the operator list `strand`, which must outlive this object.
  explicit FinishedOperatorStates(const Strand& strand);

  [[nodiscard]] const Strand& strand() const { return strand_; }
  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  /// Returns the operators that are finished in a state.
  [[nodiscard]] OperatorSet set(std::size_t state) const { return sets_[state]; }
  [[nodiscard]] const RemainingSeconds& remaining(std::size_t state) const {
    return remaining_[state];
  }
  /// Returns the indices of the computations that can start next in a state.
  [[nodiscard]] std::span<const std::size_t> computations_ready_in_state(std::size_t state) const {
    return computations_[state];
  }
  /// Returns the indices of the collectives that can start next in a state.
  [[nodiscard]] std::span<const std::size_t> collectives_ready_in_state(std::size_t state) const {
    return collectives_[state];
  }
  /// Returns the states that computations alone lead to: the state itself, then others by ascending
  /// `part_s`.
  [[nodiscard]] std::span<const ComputationOnlyState> computation_only_states(
      std::size_t state) const {
    return extensions_[state];
  }
  /// Returns the state after operator `op` has also ended; all that `op` depends on must be
  /// finished in `state`.
  [[nodiscard]] std::size_t state_after_operator(std::size_t state, std::size_t op) const {
    return next_[state * strand_.size() + op];
  }

 private:
  [[nodiscard]] std::vector<ComputationOnlyState> extend(std::size_t from,
                                                         std::vector<std::size_t>& found_at) const;
  [[nodiscard]] RemainingSeconds remaining_after(OperatorSet done) const;

  const Strand& strand_;
  std::vector<OperatorSet> sets_;
  std::vector<RemainingSeconds> remaining_;
  /// For each state and each operator that finishes in it ([state, operator]), the index of the
  /// next state.
  std::vector<std::size_t> next_;
  std::vector<std::vector<std::size_t>> computations_;
  std::vector<std::vector<std::size_t>> collectives_;
  std::vector<std::vector<ComputationOnlyState>> extensions_;
};

}  // namespace stepwright::interleave
