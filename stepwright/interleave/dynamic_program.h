#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "stepwright/interleave/strand_states.h"

namespace stepwright::interleave {

/// Exposed seconds of a state that cannot be reached.
inline constexpr double kUnreachableSeconds = std::numeric_limits<double>::infinity();

/// Finds the fastest sequence of blocks of two strands, over all their orders and all cuts into
/// blocks. With T the time to reach a state and P the computation done there, T - P changes only by
/// collectives that are longer than the computation beside them: computations alone lead to further
/// states at no cost.
class DynamicProgram {
 public:
  /// Keeps references to `forward` and `backward`, which must outlive it.
  DynamicProgram(const StrandStates& forward, const StrandStates& backward,
                 const cost::Contention& contention);

  /// Returns a lower bound of the exposed seconds of every sequence.
  [[nodiscard]] double least_exposed_s() const { return still_exposed_s(0, 0); }

  /// Returns the least exposed seconds if they are below `limit_s`, else `kUnreachableSeconds`.
  double solve(double limit_s);

  /// Returns the blocks of the last solution that was below its limit.
  [[nodiscard]] std::vector<Block> blocks() const;

 private:
  /// A collective that may start next in a state.
  struct Sent {
    bool forward = false;
    std::size_t op = 0;
    std::size_t link = 0;
    double seconds = 0;
    /// True if it could already start before the computation that led to this state.
    bool known = false;
  };
  /// The block that leads to a state: the state at which it begins.
  struct Origin {
    std::size_t from = 0;
    bool computes = false;  ///< True if the block is a single computation.
  };

  [[nodiscard]] std::size_t place(std::size_t forward, std::size_t backward) const {
    return forward * backward_.size() + backward;
  }
  void reach(std::size_t to, double exposed_s, const Origin& origin);
  [[nodiscard]] double still_exposed_s(std::size_t forward, std::size_t backward) const;
  void leave(std::size_t forward, std::size_t backward, double limit_s);
  void add_open(bool forward, std::size_t state, const Origin& origin);
  void cover(std::size_t forward, std::size_t backward, const Sent& one, const Sent* other);
  [[nodiscard]] Block block(std::size_t to) const;

  const StrandStates& forward_;
  const StrandStates& backward_;
  cost::Contention contention_;
  LinkSeconds lost_{};  ///< Seconds of computation lost for each second of messages, by link class.
  std::vector<double> exposed_s_;
  std::vector<Origin> origins_;
  std::vector<Sent> open_;
};

}  // namespace stepwright::interleave
