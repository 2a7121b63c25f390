#include "stepwright/collective/rank_writer.h"

#include <cassert>

namespace stepwright::collective {

namespace {

PieceRun place(RankBuffer buffer, std::int64_t piece) {
  PieceRun result{};
  result.piece = static_cast<std::uint32_t>(piece) & kMaxPieceCount;
  result.buffer = buffer;
  return result;
}

}  // namespace

PieceRun input(std::int64_t piece) { return place(RankBuffer::kInput, piece); }
PieceRun output(std::int64_t piece) { return place(RankBuffer::kOutput, piece); }
PieceRun scratch(std::int64_t piece) { return place(RankBuffer::kScratch, piece); }

RankWriter::RankWriter(int lanes) : lanes_(lanes) {
  for (int lane = 0; lane < lanes; ++lane) {
    for (int side = 0; side < 2; ++side) {
      rank_.channels.push_back({.lane = static_cast<std::uint8_t>(lane)});
    }
  }
}

StepRef RankWriter::send(int lane, std::int64_t peer, PieceRun source, std::int64_t pieces) {
  return append(2 * lane, {.source = source,
                           .peer = static_cast<std::int32_t>(peer),
                           .pieces = static_cast<std::int32_t>(pieces),
                           .kind = StepKind::kSend});
}

StepRef RankWriter::receive(int lane, std::int64_t peer, PieceRun target, std::int64_t pieces) {
  return append(2 * lane + 1, {.target = target,
                               .peer = static_cast<std::int32_t>(peer),
                               .pieces = static_cast<std::int32_t>(pieces),
                               .kind = StepKind::kReceive});
}

StepRef RankWriter::receive_reduce(int lane, std::int64_t peer, PieceRun source, PieceRun target,
                                   std::int64_t pieces) {
  return append(2 * lane + 1, {.source = source,
                               .target = target,
                               .peer = static_cast<std::int32_t>(peer),
                               .pieces = static_cast<std::int32_t>(pieces),
                               .kind = StepKind::kReceiveReduce});
}

StepRef RankWriter::copy(PieceRun source, PieceRun target, std::int64_t pieces) {
  const int own = 2 * lanes_;
  if (std::ssize(rank_.channels) == own) {
    rank_.channels.push_back({.lane = static_cast<std::uint8_t>(lanes_)});
  }
  return append(own, {.source = source,
                      .target = target,
                      .pieces = static_cast<std::int32_t>(pieces),
                      .kind = StepKind::kCopy});
}

StepRef RankWriter::append(int channel, const ScheduleStep& step) {
  std::vector<ScheduleStep>& steps = rank_.channels[static_cast<std::size_t>(channel)].steps;
  steps.push_back(step);
  return {channel, static_cast<std::int32_t>(std::ssize(steps) - 1)};
}

void RankWriter::wait(StepRef step, StepRef on) {
  if (!on.exists() || on.channel == step.channel) return;
  std::int32_t& over = over_[{step.channel, on.channel}];
  if (on.step < over) return;
  over = on.step + 1;
  ScheduleChannel& channel = rank_.channels[static_cast<std::size_t>(step.channel)];
  assert(step.step == std::ssize(channel.steps) - 1);
  channel.waits.push_back({step.step, on});
}

}  // namespace stepwright::collective
