#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective_files/schedule_messages.h"

namespace stepwright::collective_files {

/// A step of an MSCCL thread block (send, receive or local operation), with the steps that it waits
/// for.
struct MscclThreadBlockStep {
  collective::CollectiveScheduleStep step;
  /// For a send, the receiver's buffer and the piece (equal part) of it that the data goes to.
  collective::PieceRunStart lands{};
  /// Steps of other thread blocks that must end before this one starts; the `channel` of each is
  /// the index of its thread block. A step is left out if another one in the list ends only after
  /// it.
  std::vector<collective::CollectiveStepReference> after;
  bool awaited = false;  ///< True if a step of another thread block waits for this one.
};

/// An MSCCL thread block: it sends to at most one rank and receives from at most one.
struct MscclThreadBlock {
  std::int32_t send_peer = -1;
  std::int32_t receive_peer = -1;
  int channel = 0;
  std::vector<MscclThreadBlockStep> steps;
};

/// The MSCCL channel of each flow of messages between two ranks; flows between the same ranks have
/// different channels.
using FlowChannels = std::map<MessageFlow, int>;

/// Assigns MSCCL channels to the flows of messages of a schedule, so that on each channel a rank
/// sends to at most `most_peers` ranks and receives from as many.
FlowChannels assign_msccl_channels(const ReceivesOfFlows& landings, int most_peers);

/// Input from which the MSCCL thread blocks of a rank are made: a collective's schedule, its
/// messages and their channels.
struct MscclThreadBlockInput {
  const collective::CollectiveSchedule& schedule;
  const ReceivesOfFlows& landings;
  const FlowChannels& channels;
  /// Most pieces (equal parts of a buffer) that one step may move; longer steps are split.
  std::int32_t most_pieces = 0;
};

/// Returns the MSCCL thread blocks of one rank: one for each flow of messages; a local step joins
/// the thread block of the step before it. Thread blocks wait for each other only where data
/// requires it (write before read, read before the next write). The schedule must have no defect.
std::vector<MscclThreadBlock> msccl_thread_blocks(const MscclThreadBlockInput& source,
                                                  std::int32_t rank);

}  // namespace stepwright::collective_files
