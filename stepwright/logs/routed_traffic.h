#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "stepwright/logs/log.h"

namespace stepwright::logs {

/// A log's bytes, split into those that a plan determines and those that a router decides (rows
/// sent to experts), if the log states how all-to-alls divide their payload. The difference between
/// two traffic matrices is sum |a - b| / sum (a + b): 0 if they are equal, 1 if they have no
/// traffic in common.
struct RouterDecidedTraffic {
  std::int64_t payload_bytes = 0;  ///< Payload bytes, summed over all calls whose payload is known.
  /// Payload bytes of router-decided all-to-alls: the n-th of each step, if it sends different
  /// amounts to different members in any step. All other bytes follow from the plan, the group
  /// sizes and the batch.
  std::int64_t routed_bytes = 0;
  /// Payload bytes of all-to-alls for which the log does not state the share of each member.
  std::int64_t unsaid_bytes = 0;
  /// Number of steps of the rank that has most; steps are marked in the log or found by repetition.
  std::int64_t steps = 0;
  /// How much the traffic between ranks changes from one whole step to the next: the difference
  /// between the traffic matrices, summed over all steps, from 0 (equal) to 1.
  double moved = 0;
  /// How much the traffic of the n-th all-to-all of a step changes from one step to the next: the
  /// difference between the traffic matrices, summed over all of them, from 0 (equal) to 1.
  double moved_of_exchange = 0;
  /// How unevenly ranks send: difference of the traffic matrix from one in which each rank sends
  /// equal amounts to all, from 0 (equal) to 1.
  double uneven = 0;
  /// Routed bytes of an average step, by sending and receiving rank; only for groups whose ranks
  /// are known.
  std::map<std::pair<std::int64_t, std::int64_t>, double> sent;
};

/// Computes how a log's bytes divide into planned and router-decided ones. A rank's steps are those
/// that the log marks, else repetitions of its calls, ignoring the sizes of all-to-alls.
RouterDecidedTraffic router_decided_traffic_of_log(const CommunicationLog& log);

}  // namespace stepwright::logs
