#include "stepwright/export/schedule_messages.h"

namespace stepwright {

std::map<MessageFlow, std::vector<Landing>> landings_of(const CollectiveSchedule& schedule) {
  std::map<MessageFlow, std::vector<Landing>> landings;
  for (std::int32_t rank = 0; rank < std::ssize(schedule.ranks); ++rank) {
    const RankSchedule& own = schedule.ranks[static_cast<std::size_t>(rank)];
    for (std::int32_t c = 0; c < std::ssize(own.channels); ++c) {
      const ScheduleChannel& channel = own.channels[static_cast<std::size_t>(c)];
      for (const ScheduleStep& step : channel.steps) {
        if (receives(step)) landings[{channel.lane, step.peer, rank}].push_back({c, &step});
      }
    }
  }
  return landings;
}

}  // namespace stepwright
