#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// The split of a log's bytes into what a plan can know beforehand and how the rest moves: rows
/// that a router sends to experts, where the log says the parts of its all-to-alls. Shares of two
/// matrices are sum |a - b| / sum (a + b): 0 where they are equal, 1 where they have nothing in
/// common.
struct RoutedTraffic {
  std::int64_t payload_bytes = 0;  ///< Bytes of all calls whose payload is known.
  /// The bytes among them of all-to-alls whose parts differ, in any step, at their place in it. All
  /// else follows from the plan, the sizes of groups and the batch.
  std::int64_t routed_bytes = 0;
  std::int64_t unsaid_bytes = 0;  ///< Bytes of all-to-alls of whose parts the log says nothing.
  /// Steps that were told apart, of the rank with most; else repetitions.
  std::int64_t steps = 0;
  /// Share that moves from step to step, of the matrix of a whole step.
  double moved = 0;
  /// Share that moves from step to step, of the matrix of the n-th exchange of a step.
  double moved_of_exchange = 0;
  double uneven = 0;  ///< Distance from a matrix in which each rank sends to all alike.
  /// Routed bytes of a step from rank to rank, on average; of groups whose ranks are known.
  std::map<std::pair<std::int64_t, std::int64_t>, double> sent;
};

/// Steps of a rank are those that the log marks, else what its calls repeat, whatever the sizes of
/// their all-to-alls.
RoutedTraffic routed_traffic(const Log& log);

}  // namespace stepwright::logs
