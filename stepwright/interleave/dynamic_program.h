#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "stepwright/interleave/strand_states.h"

namespace stepwright::interleave {

/// Value of a cost in exposed seconds that means "no sequence of blocks exists": infinity.
inline constexpr double kInfiniteExposedSeconds = std::numeric_limits<double>::infinity();

/// Finds the fastest way to run a forward and a backward through a layer side by side, over all
/// orders and all cuts into blocks (collectives beside computations, then a barrier). The minimised
/// cost is exposed time: time to reach a state minus the computation done until then. Computation
/// alone adds none, so only collectives that are longer than the computation beside them count.
class InterleavingDynamicProgram {
 public:
  /// Keeps references to `forward` and `backward`, which must outlive it.
  InterleavingDynamicProgram(const FinishedOperatorStates& forward,
                             const FinishedOperatorStates& backward,
                             const cost::OverlapSlowdownFactors& contention);

  /// Returns a lower bound on the exposed communication seconds of every possible sequence of
  /// blocks.
  [[nodiscard]] double exposed_lower_bound_s() const { return still_exposed_s(0, 0); }

  /// Returns the least exposed communication seconds over all sequences of blocks if they are below
  /// `limit_s`, else `kInfiniteExposedSeconds`.
  double solve_min_exposed_communication_s(double limit_s);

  /// Returns the blocks of the fastest sequence that the last successful
  /// `solve_min_exposed_communication_s` found, in order.
  [[nodiscard]] std::vector<InterleavedBlock> blocks() const;

 private:
  /// A collective whose inputs are ready in a state, so that the next block may start it.
  struct ReadyCollective {
    bool forward = false;
    std::size_t op = 0;
    std::size_t link = 0;
    double seconds = 0;
    /// True if the inputs of the collective were ready before the computation that led to this
    /// state, so that it could already start earlier.
    bool known = false;
  };
  /// The last step on the fastest way to a state: the state before it and the block that leads from
  /// there.
  struct FastestPredecessorState {
    std::size_t from = 0;
    bool computes = false;  ///< True if the last block of the plan is one computation.
  };

  [[nodiscard]] std::size_t place(std::size_t forward, std::size_t backward) const {
    return forward * backward_.size() + backward;
  }
  void reach(std::size_t to, double exposed_s, const FastestPredecessorState& origin);
  [[nodiscard]] double still_exposed_s(std::size_t forward, std::size_t backward) const;
  void leave(std::size_t forward, std::size_t backward, double limit_s);
  void add_open(bool forward, std::size_t state, const FastestPredecessorState& origin);
  void cover(std::size_t forward, std::size_t backward, const ReadyCollective& one,
             const ReadyCollective* other);
  [[nodiscard]] InterleavedBlock block(std::size_t to) const;

  const FinishedOperatorStates& forward_;
  const FinishedOperatorStates& backward_;
  cost::OverlapSlowdownFactors contention_;
  /// For each link class, seconds of computation that are lost for each second of a message beside
  /// it.
  LinkSeconds lost_{};
  std::vector<double> exposed_s_;
  std::vector<FastestPredecessorState> origins_;
  std::vector<ReadyCollective> open_;
};

}  // namespace stepwright::interleave
