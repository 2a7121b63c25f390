#include "stepwright/collective/rank_writer.h"

#include <cassert>

namespace stepwright::collective {

namespace {

PieceRunStart place(RankBufferKind buffer, std::int64_t piece) {
  PieceRunStart result{};
  result.piece = static_cast<std::uint32_t>(piece) & kMaxSchedulePiecesPerBuffer;
  result.buffer = buffer;
  return result;
}

}  // namespace

PieceRunStart input_piece(std::int64_t piece) { return place(RankBufferKind::kInput, piece); }
PieceRunStart output(std::int64_t piece) { return place(RankBufferKind::kOutput, piece); }
PieceRunStart scratch(std::int64_t piece) { return place(RankBufferKind::kScratch, piece); }

RankCollectiveScheduleWriter::RankCollectiveScheduleWriter(int lanes) : lanes_(lanes) {
  for (int lane = 0; lane < lanes; ++lane) {
    for (int side = 0; side < 2; ++side) {
      rank_.channels.push_back({.lane = static_cast<std::uint8_t>(lane)});
    }
  }
}

CollectiveStepReference RankCollectiveScheduleWriter::send(int lane, std::int64_t peer,
                                                           PieceRunStart source,
                                                           std::int64_t pieces) {
  return append(2 * lane, {.source = source,
                           .peer = static_cast<std::int32_t>(peer),
                           .pieces = static_cast<std::int32_t>(pieces),
                           .kind = CollectiveStepOperation::kSend});
}

CollectiveStepReference RankCollectiveScheduleWriter::receive(int lane, std::int64_t peer,
                                                              PieceRunStart target,
                                                              std::int64_t pieces) {
  return append(2 * lane + 1, {.target = target,
                               .peer = static_cast<std::int32_t>(peer),
                               .pieces = static_cast<std::int32_t>(pieces),
                               .kind = CollectiveStepOperation::kReceive});
}

CollectiveStepReference RankCollectiveScheduleWriter::append_receive_and_add(
    int lane, std::int64_t peer, PieceRunStart source, PieceRunStart target, std::int64_t pieces) {
  return append(2 * lane + 1, {.source = source,
                               .target = target,
                               .peer = static_cast<std::int32_t>(peer),
                               .pieces = static_cast<std::int32_t>(pieces),
                               .kind = CollectiveStepOperation::kReceiveReduce});
}

CollectiveStepReference RankCollectiveScheduleWriter::copy(PieceRunStart source,
                                                           PieceRunStart target,
                                                           std::int64_t pieces) {
  const int own = 2 * lanes_;
  if (std::ssize(rank_.channels) == own) {
    rank_.channels.push_back({.lane = static_cast<std::uint8_t>(lanes_)});
  }
  return append(own, {.source = source,
                      .target = target,
                      .pieces = static_cast<std::int32_t>(pieces),
                      .kind = CollectiveStepOperation::kCopy});
}

CollectiveStepReference RankCollectiveScheduleWriter::append(int channel,
                                                             const CollectiveScheduleStep& step) {
  std::vector<CollectiveScheduleStep>& steps =
      rank_.channels[static_cast<std::size_t>(channel)].steps;
  steps.push_back(step);
  return {channel, static_cast<std::int32_t>(std::ssize(steps) - 1)};
}

void RankCollectiveScheduleWriter::add_step_dependency(CollectiveStepReference step,
                                                       CollectiveStepReference on) {
  if (!on.exists() || on.channel == step.channel) return;
  std::int32_t& over = over_[{step.channel, on.channel}];
  if (on.step < over) return;
  over = on.step + 1;
  RankStepSequence& channel = rank_.channels[static_cast<std::size_t>(step.channel)];
  assert(step.step == std::ssize(channel.steps) - 1);
  channel.waits.push_back({step.step, on});
}

}  // namespace stepwright::collective
