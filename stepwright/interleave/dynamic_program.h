#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "stepwright/interleave/strand_states.h"

namespace stepwright::interleave {

/// Exposed seconds of what cannot be reached.
inline constexpr double kUnreached = std::numeric_limits<double>::infinity();

/// The fastest sequence of blocks of two strands, over all their orders and all cuts into blocks.
/// Of the computation P done, T(state) - P(state) changes only where a collective is longer than
/// what runs beside it: computations alone lead on at no cost.
class DynamicProgram {
 public:
  /// All but the contention outlive this.
  DynamicProgram(const StrandStates& forward, const StrandStates& backward,
                 const cost::Contention& contention);

  /// The exposed seconds that every sequence has at least.
  [[nodiscard]] double least_exposed_s() const { return still_exposed_s(0, 0); }

  /// The least exposed seconds, when they are below a limit; else `kUnreached`.
  double solve(double limit_s);

  /// The blocks of the last solution below its limit.
  [[nodiscard]] std::vector<Block> blocks() const;

 private:
  /// A collective that may come next.
  struct Sent {
    bool forward = false;
    std::size_t op = 0;
    std::size_t link = 0;
    double seconds = 0;
    bool known = false;  ///< Could come before the computation that led here.
  };
  /// The state at which the block that leads to another begins.
  struct Origin {
    std::size_t from = 0;
    bool computes = false;  ///< The block is one computation.
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
  LinkSeconds lost_{};  ///< Computation that a second of messages costs.
  std::vector<double> exposed_s_;
  std::vector<Origin> origins_;
  std::vector<Sent> open_;
};

}  // namespace stepwright::interleave
