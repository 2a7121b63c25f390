#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// All messages of a lane from one rank to another.
struct MessageFlow {
  std::uint8_t lane = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  auto operator<=>(const MessageFlow&) const = default;
};

/// The place at which a message arrives.
struct Landing {
  std::int32_t channel = 0;  ///< Channel of the receiver.
  const collective::ScheduleStep* step = nullptr;
};

/// The receives of each flow, in the order of its sends.
using Landings = std::map<MessageFlow, std::vector<Landing>>;

/// For each message of a schedule, the facts about its receiver that the sender needs. Holds a
/// reference to the schedule.
class ScheduleMessages {
 public:
  explicit ScheduleMessages(const collective::CollectiveSchedule& schedule);

  [[nodiscard]] const Landings& landings() const { return landings_; }
  /// Whether message `number` of a flow waits until its receiver says that there is room: the first
  /// one does, and all into memory that is written twice or added to.
  [[nodiscard]] bool asks(const MessageFlow& flow, std::size_t number) const;

 private:
  Landings landings_;
  /// Per rank, the pieces of output that one step alone writes.
  std::vector<std::vector<bool>> written_once_;
};

/// Per receiving channel of a rank that adds, the first piece of scratch, behind the schedule's
/// own, where messages come in; the last entry is the end.
std::vector<std::int32_t> arrival_rooms(const collective::CollectiveSchedule& schedule,
                                        std::int32_t rank);

}  // namespace stepwright::collective_files
