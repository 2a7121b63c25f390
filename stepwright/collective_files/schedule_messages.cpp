#include "stepwright/collective_files/schedule_messages.h"

#include <algorithm>

namespace stepwright::collective_files {
namespace {

ReceivesOfFlows landings_of(const collective::CollectiveSchedule& schedule) {
  ReceivesOfFlows landings;
  for (std::int32_t rank = 0; rank < std::ssize(schedule.ranks); ++rank) {
    const collective::RankCollectiveSchedule& own = schedule.ranks[static_cast<std::size_t>(rank)];
    for (std::int32_t c = 0; c < std::ssize(own.channels); ++c) {
      const collective::RankStepSequence& channel = own.channels[static_cast<std::size_t>(c)];
      for (const collective::CollectiveScheduleStep& step : channel.steps) {
        if (collective::receives(step))
          landings[{channel.lane, step.peer, rank}].push_back({c, &step});
      }
    }
  }
  return landings;
}

/// Counts, for each piece of output, the steps of `channel` that write it.
void add_writers(const collective::RankStepSequence& channel, std::vector<int>& writers) {
  for (const collective::CollectiveScheduleStep& step : channel.steps) {
    if (!collective::writes(step) || step.target.buffer != collective::RankBufferKind::kOutput)
      continue;
    const auto first = writers.begin() + static_cast<std::ptrdiff_t>(step.target.piece);
    std::for_each(first, first + step.pieces, [](int& count) { ++count; });
  }
}

/// For each rank, marks the output pieces that only one step writes, which are free until its
/// message arrives.
std::vector<std::vector<bool>> outputs_written_once(
    const collective::CollectiveSchedule& schedule) {
  std::vector<std::vector<bool>> free;
  for (const collective::RankCollectiveSchedule& rank : schedule.ranks) {
    std::vector<int> writers(static_cast<std::size_t>(schedule.output_pieces));
    for (const collective::RankStepSequence& channel : rank.channels) add_writers(channel, writers);
    std::vector<bool>& own = free.emplace_back();
    for (const int count : writers) own.push_back(count == 1);
  }
  return free;
}

}  // namespace

MessageReceiverTable::MessageReceiverTable(const collective::CollectiveSchedule& schedule)
    : landings_(landings_of(schedule)), written_once_(outputs_written_once(schedule)) {}

bool MessageReceiverTable::message_waits_for_free_memory(const MessageFlow& flow,
                                                         std::size_t number) const {
  const collective::CollectiveScheduleStep& step = *landings_.at(flow)[number].step;
  if (number == 0 || step.kind != collective::CollectiveStepOperation::kReceive ||
      step.target.buffer != collective::RankBufferKind::kOutput) {
    return true;
  }
  const std::vector<bool>& own = written_once_[static_cast<std::size_t>(flow.to)];
  const auto first = own.begin() + static_cast<std::ptrdiff_t>(step.target.piece);
  return !std::all_of(first, first + step.pieces, [](bool once) { return once; });
}

std::vector<std::int32_t> first_receive_scratch_pieces(
    const collective::CollectiveSchedule& schedule, std::int32_t rank) {
  std::int32_t end = schedule.scratch_pieces;
  std::vector<std::int32_t> rooms;
  for (const collective::RankStepSequence& channel :
       schedule.ranks[static_cast<std::size_t>(rank)].channels) {
    rooms.push_back(end);
    std::int32_t longest = 0;
    for (const collective::CollectiveScheduleStep& step : channel.steps) {
      if (step.kind == collective::CollectiveStepOperation::kReceiveReduce)
        longest = std::max(longest, step.pieces);
    }
    end += longest;
  }
  rooms.push_back(end);
  return rooms;
}

}  // namespace stepwright::collective_files
