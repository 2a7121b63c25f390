#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Returns when the compute stream of a template ends if every operator starts as soon as stream
/// order and dependences allow, and nothing slows anything down. `times`: by operator; `ends`:
/// scratch.
double chain_seconds(const step::Template& piece, std::span<const cost::OperatorTime> times,
                     std::vector<double>& ends);

/// Lower bounds of one template in a step: from the end of the compute stream's previous work to
/// the end of the template's own part of that stream, whatever else is sent meanwhile.
struct BlockFloor {
  double seconds = 0;
  double waiting_s = 0;  ///< Lower bound of the seconds in which its compute stream waits.
};

/// Makes `BlockFloor`s; keeps its scratch between calls. A template starts when the compute stream
/// has reached it. A message that an operator of this stream waits for is therefore sent between
/// the start and that operator, or between that operator and an earlier operator of the stream that
/// the message follows. Stretches of the compute stream that such messages span are disjoint; with
/// C the computation in one, busy_l its messages by link, f_l the factor on computation beside a
/// link and f the largest,
///
///     waiting = the stretch with f C in place of each computation C, less f C
///     seconds = max(chain, C + waiting + max over l of (1 - 1/f_l) max(0, busy_l - waiting))
///
/// (`simulate/price/step_load.h` gives the reason; a chain grows by at most as much as its
/// operators, so that slower computation only shortens the waiting.) The bound of the template is
/// the sum over the stretches and the rest of its compute stream, or its chain if that is longer.
class BlockBounds {
 public:
  BlockFloor of(const step::Template& piece, std::span<const cost::OperatorTime> times,
                const cost::Contention& contention);

 private:
  /// A stretch of the compute stream: from after one operator (or the start) to before another.
  struct Stretch {
    std::size_t from = 0;
    std::size_t until = 0;
  };
  void find_spans(const step::Template& piece);
  void find_stretches(const step::Template& piece, std::span<const cost::OperatorTime> times);
  void set_ends(const step::Template& piece, double slow, std::vector<double>& ends);

  /// For each operator, the stretch of the compute stream that it spans; `until` beyond the last
  /// operator: no operator waits for it.
  std::vector<Stretch> spans_;
  std::vector<Stretch> stretches_;  ///< Disjoint stretches, in the order of time.
  std::vector<cost::OperatorTime>
      enclosed_;  ///< Time of each operator; 0 for messages that no operator waits for.
  std::vector<cost::OperatorTime> scaled_;
  std::vector<double> ends_;
  std::vector<double> slowed_ends_;
};

}  // namespace stepwright::simulate
