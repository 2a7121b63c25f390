#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// When the compute stream of a template ends if every operator starts as soon as order and
/// dependences let it and nothing slows anything down. `times` by operator; `ends` is scratch.
double chain_seconds(const step::Template& piece, std::span<const cost::OperatorTime> times,
                     std::vector<double>& ends);

/// Bounds of one template in a step, from the end of what its compute stream did before to the end
/// of its own part, whatever else is sent meanwhile.
struct BlockFloor {
  double seconds = 0;
  double waiting_s = 0;  ///< Bound on the seconds in which its compute stream waits.
};

/// Makes `BlockFloor`s; keeps its scratch between calls. A template starts when the compute stream
/// has reached it, so that a message that some operator of this stream waits for is sent between
/// the two, or between a later operator that it comes after and this one. Stretches of the compute
/// stream that such messages span are disjoint; with C the computation in one, busy_l its messages
/// by link, f_l the factor on computation beside a link and f the largest,
///
///     waiting = the stretch with f C in place of each computation C, less f C
///     seconds = max(chain, C + waiting + max over l of (1 - 1/f_l) max(0, busy_l - waiting))
///
/// (`simulate/price/step_load.h` has the reason; a chain grows by at most what an operator in it
/// does, so that slower computation only shortens the waiting.) The template takes the sum of them
/// and of the rest of its compute stream, or its chain.
class BlockBounds {
 public:
  BlockFloor of(const step::Template& piece, std::span<const cost::OperatorTime> times,
                const cost::Contention& contention);

 private:
  /// The stretch from behind one operator of the compute stream, or the start, to before another.
  struct Stretch {
    std::size_t from = 0;
    std::size_t until = 0;
  };
  void find_spans(const step::Template& piece);
  void find_stretches(const step::Template& piece, std::span<const cost::OperatorTime> times);
  void set_ends(const step::Template& piece, double slow, std::vector<double>& ends);

  /// Stretch before each operator's waits; `until` beyond the last: none waits.
  std::vector<Stretch> spans_;
  std::vector<Stretch> stretches_;  ///< Stretches in the order of time.
  std::vector<cost::OperatorTime>
      enclosed_;  ///< Time of each operator; messages that none waits for take none.
  std::vector<cost::OperatorTime> scaled_;
  std::vector<double> ends_;
  std::vector<double> slowed_ends_;
};

}  // namespace stepwright::simulate
