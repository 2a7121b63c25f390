#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "stepwright/collective/schedule.h"
#include "stepwright/transport/rank_memory.h"
#include "stepwright/transport/reduction.h"
#include "stepwright/transport/run_state.h"
#include "stepwright/transport/transport.h"

namespace stepwright::transport {

/// Objects that all channels of one run of a collective share: schedule, memory, transport and
/// limits.
struct CollectiveRunContext {
  const collective::RankCollectiveSchedule& schedule;
  const RankCollectiveBuffers& memory;
  CollectiveReduction reduction;
  MessageTransport& transport;
  CollectiveChannelProgress& state;
  std::int64_t message_bytes;
  std::size_t in_flight;
};

/// Runs the steps of one channel of a collective's schedule, with several parts of messages in
/// flight at once. Parts end in order. Pieces that are to be added are received into `staging`, so
/// that they may arrive before their step's waits are over.
class CollectiveChannelRunner {
 public:
  /// Prepares to run channel number `channel`; `run` and `staging` must outlive this object.
  CollectiveChannelRunner(const CollectiveRunContext& run, std::size_t channel,
                          std::span<std::byte> staging);

  /// Runs all steps of the channel. Throws errors of the transport, and `Error{kRuntime}` if
  /// another channel has failed.
  void run_channel_steps();

 private:
  struct Part {
    std::size_t step;
    std::size_t offset;
    std::size_t bytes;
    bool last;
    std::byte* staged;
    /// Steps of other channels that must be done before the received (staged) bytes of this message
    /// part are added.
    std::span<const collective::CollectiveStepDependency> waits;
    std::unique_ptr<MessageTransfer> transfer;
  };

  std::span<const collective::CollectiveStepDependency> waits_of(std::size_t step);
  void start_after(std::span<const collective::CollectiveStepDependency> waits);
  void send_or_receive(std::size_t step,
                       std::span<const collective::CollectiveStepDependency> waits);
  void apply_own(const collective::CollectiveScheduleStep& step);
  std::unique_ptr<MessageTransfer> start(const collective::CollectiveScheduleStep& step,
                                         const Part& part);
  [[nodiscard]] bool clashes(const collective::CollectiveScheduleStep& step) const;
  void finish_first();
  void drain();

  const CollectiveRunContext& run_;
  std::size_t index_;
  const collective::RankStepSequence& channel_;
  std::span<std::byte> staging_;
  std::size_t wait_ = 0;  ///< Index of the first of the channel's waits whose step has not started.
  std::size_t parts_ = 0;  ///< Number of message parts started so far.
  std::deque<Part> flight_;
};

}  // namespace stepwright::transport
