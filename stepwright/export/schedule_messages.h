#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright {

/// All messages of a lane from one rank to another.
struct MessageFlow {
  std::uint8_t lane = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  auto operator<=>(const MessageFlow&) const = default;
};

/// Where a message arrives.
struct Landing {
  std::int32_t channel = 0;  ///< Of the receiver.
  const ScheduleStep* step = nullptr;
};

/// The receives of each flow, in the order of its sends.
std::map<MessageFlow, std::vector<Landing>> landings_of(const CollectiveSchedule& schedule);

}  // namespace stepwright
