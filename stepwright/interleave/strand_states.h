#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stepwright/interleave/block.h"
#include "stepwright/interleave/strand.h"

namespace stepwright::interleave {

/// The remaining work of a strand, in seconds.
struct RemainingWork {
  double compute_s = 0;
  LinkSeconds messages_s{};
};

/// A state that a strand can reach by computations alone.
struct Extension {
  std::size_t state = 0;
  double compute_s = 0;
  double part_s = 0;  ///< Most seconds of computation of an extension with one operator less.
};

/// The states of a strand (its order ideals, small ones first), and the transitions between them.
class StrandStates {
 public:
  /// Lists the states of `strand`, which must outlive it.
  explicit StrandStates(const Strand& strand);

  [[nodiscard]] const Strand& strand() const { return strand_; }
  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  /// The operators that are done in a state.
  [[nodiscard]] OperatorSet set(std::size_t state) const { return sets_[state]; }
  [[nodiscard]] const RemainingWork& remaining(std::size_t state) const {
    return remaining_[state];
  }
  /// Computations that may run next in a state.
  [[nodiscard]] std::span<const std::size_t> computations(std::size_t state) const {
    return computations_[state];
  }
  /// Collectives that may run next in a state.
  [[nodiscard]] std::span<const std::size_t> collectives(std::size_t state) const {
    return collectives_[state];
  }
  /// States that computations alone lead to, the state itself first, then by `part_s`.
  [[nodiscard]] std::span<const Extension> extensions(std::size_t state) const {
    return extensions_[state];
  }
  /// The state after operator `op`, whose dependences must be done.
  [[nodiscard]] std::size_t with(std::size_t state, std::size_t op) const {
    return next_[state * strand_.size() + op];
  }

 private:
  [[nodiscard]] std::vector<Extension> extend(std::size_t from,
                                              std::vector<std::size_t>& found_at) const;
  [[nodiscard]] RemainingWork remaining_after(OperatorSet done) const;

  const Strand& strand_;
  std::vector<OperatorSet> sets_;
  std::vector<RemainingWork> remaining_;
  std::vector<std::size_t> next_;  ///< State after an operator, indexed by state and operator.
  std::vector<std::vector<std::size_t>> computations_;
  std::vector<std::vector<std::size_t>> collectives_;
  std::vector<std::vector<Extension>> extensions_;
};

}  // namespace stepwright::interleave
