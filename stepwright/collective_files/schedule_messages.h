#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective/schedule.h"

namespace stepwright::collective_files {

/// The messages of a collective's schedule from one rank to another on one lane (a numbered
/// connection).
struct MessageFlow {
  std::uint8_t lane = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;

  auto operator<=>(const MessageFlow&) const = default;
};

/// The step that receives a message: the receiver's channel and the index of the step in it.
struct MessageDestination {
  std::int32_t channel = 0;  ///< Index of the receiving channel on the receiver's rank.
  const collective::CollectiveScheduleStep* step = nullptr;
};

/// For each flow (messages from one rank to another on one lane), the receives in sending order.
using ReceivesOfFlows = std::map<MessageFlow, std::vector<MessageDestination>>;

/// For each message of a collective's schedule, what the sender must know about the receiver. Keeps
/// a reference to the schedule.
class MessageReceiverTable {
 public:
  explicit MessageReceiverTable(const collective::CollectiveSchedule& schedule);

  [[nodiscard]] const ReceivesOfFlows& landings() const { return landings_; }
  /// True if message `number` of a flow must wait until the receiver signals that its memory is
  /// free. The first message must, and every message into memory that is added to or written more
  /// than once.
  [[nodiscard]] bool message_waits_for_free_memory(const MessageFlow& flow,
                                                   std::size_t number) const;

 private:
  ReceivesOfFlows landings_;
  /// For each rank and each piece (equal part) of its output: true if only one step writes it.
  std::vector<std::vector<bool>> written_once_;
};

/// Returns, for each channel of a rank, the piece (equal part) of the scratch buffer from which on
/// it stores received data to be added, behind the schedule's own scratch data. The last entry is
/// the end of this space.
std::vector<std::int32_t> first_receive_scratch_pieces(
    const collective::CollectiveSchedule& schedule, std::int32_t rank);

}  // namespace stepwright::collective_files
