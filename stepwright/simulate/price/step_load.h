#pragma once

#include <array>

#include "stepwright/cost/cost_model.h"

namespace stepwright::simulate {

/// Work and messages of one pipeline rank in a step, in seconds without any slow-down: enough for a
/// lower bound of its simulated time.
struct PipelinePositionStepLoad {
  double compute_s = 0;  ///< Seconds of all computation of the pipeline rank in a step.
  /// Lower bound of the seconds in which the compute stream waits for messages inside the pipeline
  /// rank's forwards and backwards.
  double waiting_s = 0;
  /// Seconds before the pipeline rank's first schedule entry (forward) can begin.
  double fill_s = 0;
  /// Seconds from the end of the pipeline rank's last schedule entry (backward) to the end of the
  /// step.
  double drain_s = 0;
  /// Upper limit of the seconds of the pipeline rank's first schedule entry, with computation
  /// slowed the most by messages.
  double first_s = 0;
  /// Upper limit of the seconds of the pipeline rank's last schedule entry, with computation slowed
  /// the most by messages.
  double last_s = 0;
  /// Seconds of messages that must arrive before the pipeline rank's first schedule entry can end.
  double first_messages_s = 0;
  /// Seconds of messages that cannot start before the pipeline rank's last schedule entry.
  double last_messages_s = 0;
  /// Seconds of all messages of the pipeline rank in a step, by link class (inside a node,
  /// network).
  std::array<double, cost::kLinkClasses> busy_s{};

  /// Adds `times` times the seconds of messages (by link class) to `busy_s`.
  void add(const std::array<double, cost::kLinkClasses>& seconds, double times);
};

/// Returns the least seconds that the pipeline rank takes, whichever messages and computations
/// overlap:
///
///     T >= C + W + max over links of (1 - 1/f) max(0, busy - W)
///     W  = waiting + max(fill, first messages - first turn)
///                  + max(drain, last messages - last turn)
///
/// with C its computation, busy the seconds of its messages on a link class, and f the factor by
/// which computation slows down beside that class. W is a lower bound of the time in which the
/// compute stream computes nothing. (Let the computations take C' >= C, and the rest e = T - C' >=
/// W. At least busy - e of C' is beside a message, so that C <= C' - (1 - 1/f) (busy - e), and T =
/// C' + e >= C + e + (1 - 1/f) (busy - e), which grows with e.)
double step_time_lower_bound_s(const PipelinePositionStepLoad& load,
                               const cost::OverlapSlowdownFactors& contention);

/// Returns the factor, at least 1, by which computation slows down while messages of a link class
/// run.
double computation_slowdown_factor(cost::LinkClass link,
                                   const cost::OverlapSlowdownFactors& contention);
/// Returns the largest factor, at least 1, by which messages of any link class slow down
/// computation.
double max_computation_slowdown_factor(const cost::OverlapSlowdownFactors& contention);

}  // namespace stepwright::simulate
