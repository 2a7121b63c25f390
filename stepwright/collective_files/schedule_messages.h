#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// A flow: all messages on one lane from one rank to another.
struct MessageFlow {
  std::uint8_t lane = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  auto operator<=>(const MessageFlow&) const = default;
};

/// The receive of a message: its channel and its step.
struct MessageDestination {
  std::int32_t channel = 0;  ///< Index of the receiver's channel.
  const collective::ScheduleStep* step = nullptr;
};

/// The receives of each flow, in the order of its sends.
using Landings = std::map<MessageFlow, std::vector<MessageDestination>>;

/// For each message of a schedule, the facts about its receiver that the sender needs. Keeps a
/// reference to the schedule.
class ScheduleMessages {
 public:
  explicit ScheduleMessages(const collective::CollectiveSchedule& schedule);

  [[nodiscard]] const Landings& landings() const { return landings_; }
  /// True if message `number` of a flow waits until its receiver signals that there is room: the
  /// first message does, and every message into memory that is written twice or added to.
  [[nodiscard]] bool asks(const MessageFlow& flow, std::size_t number) const;

 private:
  Landings landings_;
  /// For each rank, true for pieces of output that only one step writes.
  std::vector<std::vector<bool>> written_once_;
};

/// For each receiving channel of a rank that adds, the first piece of scratch (after the schedule's
/// own) into which messages arrive; the last entry is the end.
std::vector<std::int32_t> arrival_rooms(const collective::CollectiveSchedule& schedule,
                                        std::int32_t rank);

}  // namespace stepwright::collective_files
