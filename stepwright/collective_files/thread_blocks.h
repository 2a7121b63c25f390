#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/collective_files/schedule_messages.h"

namespace stepwright::collective_files {

/// A step of a thread block of MSCCL.
struct BlockStep {
  collective::ScheduleStep step;
  collective::PieceRun lands{};  ///< Place where the receiver of a send puts it.
  /// The other steps that must be over before it starts: thread blocks (as `channel`) and their
  /// steps. No other steps imply one of them.
  std::vector<collective::StepRef> after;
  bool awaited = false;  ///< A step of another thread block is `after` it.
};

/// The steps of a thread block of MSCCL: it sends to one rank or receives from one.
struct ThreadBlock {
  std::int32_t send_peer = -1;
  std::int32_t receive_peer = -1;
  int channel = 0;
  std::vector<BlockStep> steps;
};

/// The channel of each flow: small numbers, no two flows between the same ranks on the same one.
using FlowChannels = std::map<MessageFlow, int>;

/// Numbers for the flows of a schedule. A rank has at most `most_peers` flows each way on a
/// channel.
FlowChannels flow_channels(const Landings& landings, int most_peers);

/// The source from which thread blocks are cut.
struct BlockSource {
  const collective::CollectiveSchedule& schedule;
  const Landings& landings;
  const FlowChannels& channels;
  std::int32_t most_pieces = 0;  ///< Most pieces of one step; longer ones are cut.
};

/// One rank of a schedule without defects as thread blocks: one for each flow, local steps in that
/// of the step before them. Between thread blocks only that order is kept which data needs: a write
/// before what reads it, reads before the next write. The schedule's own order holds it, and less
/// order cannot make anyone wait for ever.
std::vector<ThreadBlock> thread_blocks(const BlockSource& source, std::int32_t rank);

}  // namespace stepwright::collective_files
