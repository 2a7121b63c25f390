#pragma once

#include <fmt/format.h>

#include "stepwright/collective/link_bytes.h"
#include "stepwright/collective/schedule.h"
#include "stepwright/core/error.h"

namespace stepwright::collective {

/// Bytes that a schedule sends over a cluster's links.
struct ScheduleBytes {
  std::vector<double> sent;  ///< Bytes that each rank sends.
  LinkLoads links;
};

/// Computes the bytes of a schedule with a full buffer of `payload_bytes`, where rank r is device
/// r. Throws `Error{kInput}` if the cluster has too few devices.
inline ScheduleBytes schedule_bytes(const CollectiveSchedule& schedule,
                                    const cluster::Cluster& cluster, double payload_bytes) {
  if (std::ssize(schedule.ranks) > cluster.devices()) {
    fail_input(fmt::format("a schedule of {} ranks does not fit {} devices", schedule.ranks.size(),
                           cluster.devices()));
  }
  LinkByteCounter links(cluster, std::ssize(schedule.ranks));
  ScheduleBytes result{.sent = std::vector<double>(schedule.ranks.size())};
  const double piece = payload_bytes / schedule.pieces;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    for (const RankStepSequence& channel : schedule.ranks[rank].channels) {
      for (const CollectiveScheduleStep& step : channel.steps) {
        if (!sends(step)) continue;
        result.sent[rank] += step.pieces * piece;
        links.add(static_cast<std::int64_t>(rank), step.peer, step.pieces * piece);
      }
    }
  }
  result.links = links.loads();
  return result;
}

}  // namespace stepwright::collective
