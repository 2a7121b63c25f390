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

/// Computes lower bounds of the seconds of templates (operators of a block in one direction);
/// reuses its memory. A message that an operator of the compute stream waits for is sent before
/// this operator, and after the start of the template or after the earlier operator that the
/// message follows. These ranges, merged where they overlap, are the stretches of the compute
/// stream. C is the seconds of computation in one stretch, busy_l those of its messages on link
/// class l, f_l the factor by which such messages slow computation down, and f the largest f_l:
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
  /// Range of operators on the compute stream: from index `from` (included) to index `until`
  /// (excluded).
  struct ComputeStreamRange {
    std::size_t from = 0;
    std::size_t until = 0;
  };
  void find_spans(const step::OperatorTemplate& piece);
  void find_stretches(const step::OperatorTemplate& piece,
                      std::span<const cost::OperatorTime> times);
  void set_ends(const step::OperatorTemplate& piece, double slow, std::vector<double>& ends);

  /// For each operator that is a message: the range of operators on the compute stream during which
  /// the message must be sent. `until` beyond the last operator: no operator waits for the message.
  std::vector<ComputeStreamRange> spans_;
  /// Disjoint ranges of operators on the compute stream, in order: the ranges in which messages
  /// must be sent, merged where they overlap.
  std::vector<ComputeStreamRange> stretches_;
  /// For each operator (computation or message) of a block, the time that the bound counts: its
  /// own, or 0 for a message that no operator of the block waits for.
  std::vector<cost::OperatorTime> enclosed_;
  std::vector<cost::OperatorTime> scaled_;
  std::vector<double> ends_;
  std::vector<double> slowed_ends_;
};

}  // namespace stepwright::simulate
