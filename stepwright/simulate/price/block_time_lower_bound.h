#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Returns the seconds until the compute stream of a template (operators of one block in one
/// direction) ends, if every operator starts as soon as stream order and dependences allow and no
/// operator slows another. `times`: by operator; `ends`: scratch memory.
double compute_stream_seconds(const step::OperatorTemplate& piece,
                              std::span<const cost::OperatorTime> times, std::vector<double>& ends);

/// Lower bounds for one template (operators of one block in one direction) in a step: the seconds
/// that it adds to the compute stream, whatever other messages are sent at the same time.
struct ModelBlockTimeLowerBound {
  double seconds = 0;
  /// Lower bound of the seconds in which the compute stream waits for messages or runs them.
  double waiting_s = 0;
};

/// Makes `ModelBlockTimeLowerBound`s; keeps its scratch between calls. A template starts when the
/// compute stream has reached it. A message that an operator of this stream waits for is therefore
/// sent between the start and that operator, or between that operator and an earlier operator of
/// the stream that the message follows. Stretches of the compute stream that such messages span are
/// disjoint; with C the computation in one, busy_l its messages by link, f_l the factor on
/// computation beside a link and f the largest,
///
///     waiting = the stretch with f C in place of each computation C, less f C
///     seconds = max(chain, C + waiting + max over l of (1 - 1/f_l) max(0, busy_l - waiting))
///
/// (`simulate/price/step_load.h` gives the reason; a chain grows by at most as much as its
/// operators, so that slower computation only shortens the waiting.) The bound of the template is
/// the sum over the stretches and the rest of its compute stream, or its chain if that is longer.
class ModelBlockTimeBoundCalculator {
 public:
  ModelBlockTimeLowerBound of(const step::OperatorTemplate& piece,
                              std::span<const cost::OperatorTime> times,
                              const cost::OverlapSlowdownFactors& contention);

 private:
  /// A range of operators on the compute stream: from after one operator (or the start) to before
  /// another.
  struct ComputeStreamRange {
    std::size_t from = 0;
    std::size_t until = 0;
  };
  void find_spans(const step::OperatorTemplate& piece);
  void find_stretches(const step::OperatorTemplate& piece,
                      std::span<const cost::OperatorTime> times);
  void set_ends(const step::OperatorTemplate& piece, double slow, std::vector<double>& ends);

  /// For each operator, the range of compute operators between which it must run; needed for
  /// messages. `until` beyond the last operator: no operator waits for it.
  std::vector<ComputeStreamRange> spans_;
  /// Disjoint ranges of the compute stream, in the order of time.
  std::vector<ComputeStreamRange> stretches_;
  /// Times by which the bound counts each operator (computation or message) of a block: its own
  /// time, or 0 for a message that no operator of the block waits for.
  std::vector<cost::OperatorTime> enclosed_;
  std::vector<cost::OperatorTime> scaled_;
  std::vector<double> ends_;
  std::vector<double> slowed_ends_;
};

}  // namespace stepwright::simulate
