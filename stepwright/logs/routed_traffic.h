#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// A log's bytes, split into those that a plan determines and those that a router decides: rows
/// sent to experts, where the log states how all-to-alls divide their payload. The difference
/// between two traffic matrices is sum |a - b| / sum (a + b): 0 if they are equal, 1 if they have
/// no traffic in common.
struct RoutedTraffic {
  std::int64_t payload_bytes = 0;  ///< Payload bytes, summed over all calls whose payload is known.
  /// Payload bytes of all-to-alls that send different amounts to different members. An all-to-all
  /// counts as such if the exchange at its position in the step is uneven in any step. All other
  /// bytes follow from the plan, the group sizes and the batch.
  std::int64_t routed_bytes = 0;
  /// Payload bytes of all-to-alls for which the log does not state the members' shares.
  std::int64_t unsaid_bytes = 0;
  /// Number of steps, marked or found by repetition, of the rank with the most.
  std::int64_t steps = 0;
  /// Difference between the traffic matrices of consecutive whole steps, from 0 to 1.
  double moved = 0;
  /// Difference between the traffic matrices of the n-th exchange in consecutive steps, from 0 to
  /// 1.
  double moved_of_exchange = 0;
  /// Difference from traffic in which each rank sends equal amounts to all, from 0 to 1.
  double uneven = 0;
  /// Routed bytes of an average step, by sending and receiving rank; only groups whose ranks are
  /// known.
  std::map<std::pair<std::int64_t, std::int64_t>, double> sent;
};

/// Computes the split. A rank's steps are those that the log marks, else those found as repetitions
/// of its calls, ignoring the sizes of all-to-alls.
RoutedTraffic routed_traffic(const Log& log);

}  // namespace stepwright::logs
