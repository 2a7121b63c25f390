#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective_files/schedule_messages.h"

namespace stepwright::collective_files {

/// A step of an MSCCL thread block.
struct BlockStep {
  collective::ScheduleStep step;
  collective::PieceRun lands{};  ///< For a send, the place where the receiver stores it.
  /// Steps that must be completed before this one starts: thread blocks (as `channel`) and their
  /// steps. No listed step is implied by other steps.
  std::vector<collective::StepRef> after;
  bool awaited = false;  ///< True if a step of another thread block waits for this one.
};

/// An MSCCL thread block: it sends to at most one rank and receives from at most one.
struct ThreadBlock {
  std::int32_t send_peer = -1;
  std::int32_t receive_peer = -1;
  int channel = 0;
  std::vector<BlockStep> steps;
};

/// The channel of each flow: small numbers, different for any two flows between the same ranks.
using FlowChannels = std::map<MessageFlow, int>;

/// Assigns channels to the flows of a schedule. A rank has at most `most_peers` flows in each
/// direction on a channel.
FlowChannels flow_channels(const Landings& landings, int most_peers);

/// The schedule from which thread blocks are made, with its messages and channels.
struct BlockSource {
  const collective::CollectiveSchedule& schedule;
  const Landings& landings;
  const FlowChannels& channels;
  std::int32_t most_pieces = 0;  ///< Most pieces of one step; longer steps are split.
};

/// Returns the thread blocks of one rank of a schedule without defects: one for each flow; a local
/// step is in the thread block of the step before it. Between thread blocks, only the order that
/// data needs is kept: a write before the reads of its result, and reads before the next write. The
/// schedule's own order implies it, and fewer constraints cannot cause a deadlock.
std::vector<ThreadBlock> thread_blocks(const BlockSource& source, std::int32_t rank);

}  // namespace stepwright::collective_files
