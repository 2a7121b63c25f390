#include "stepwright/transport/channel_walk.h"

#include <algorithm>
#include <cstring>

namespace stepwright::transport {
namespace {

bool overlap(collective::PieceRunStart a, collective::PieceRunStart b, std::int32_t a_pieces,
             std::int32_t b_pieces) {
  return a.buffer == b.buffer && std::int64_t{a.piece} < std::int64_t{b.piece} + b_pieces &&
         std::int64_t{b.piece} < std::int64_t{a.piece} + a_pieces;
}

/// True if `later` must not start before `earlier`, of the same channel, is done. Pieces that are
/// to be added do not count: they are received elsewhere and added in order.
bool must_follow(const collective::CollectiveScheduleStep& later,
                 const collective::CollectiveScheduleStep& earlier) {
  const auto meets = [&](collective::PieceRunStart mine, collective::PieceRunStart theirs) {
    return overlap(mine, theirs, later.pieces, earlier.pieces);
  };
  switch (later.kind) {
    case collective::CollectiveStepOperation::kSend:
      return collective::writes(earlier) && meets(later.source, earlier.target);
    case collective::CollectiveStepOperation::kReceive:
      return (collective::reads(earlier) && meets(later.target, earlier.source)) ||
             (collective::writes(earlier) && meets(later.target, earlier.target));
    default: return false;
  }
}

}  // namespace

CollectiveChannelRunner::CollectiveChannelRunner(const CollectiveRunContext& run,
                                                 std::size_t channel, std::span<std::byte> staging)
    : run_(run), index_(channel), channel_(run.schedule.channels[channel]), staging_(staging) {}

void CollectiveChannelRunner::run_channel_steps() {
  for (std::size_t s = 0; s < channel_.steps.size(); ++s) {
    const collective::CollectiveScheduleStep& step = channel_.steps[s];
    const std::span<const collective::CollectiveStepDependency> waits = waits_of(s);
    const bool moves =
        (collective::sends(step) || collective::receives(step)) && run_.memory.piece_bytes > 0;
    if (!moves || step.kind != collective::CollectiveStepOperation::kReceiveReduce)
      start_after(waits);
    if (moves) {
      send_or_receive(s, waits);
      continue;
    }
    drain();
    if (!collective::sends(step) && !collective::receives(step)) apply_own(step);
    run_.state.mark_step_done(index_);
  }
  drain();
}

std::span<const collective::CollectiveStepDependency> CollectiveChannelRunner::waits_of(
    std::size_t step) {
  const std::size_t first = wait_;
  while (wait_ < channel_.waits.size() &&
         static_cast<std::size_t>(channel_.waits[wait_].step) <= step) {
    ++wait_;
  }
  return {channel_.waits.data() + first, wait_ - first};
}

void CollectiveChannelRunner::start_after(
    std::span<const collective::CollectiveStepDependency> waits) {
  if (run_.state.are_steps_done(waits)) return;
  drain();
  run_.state.wait_for_steps(waits);
}

void CollectiveChannelRunner::send_or_receive(
    std::size_t s, std::span<const collective::CollectiveStepDependency> waits) {
  const collective::CollectiveScheduleStep& step = channel_.steps[s];
  if (clashes(step)) drain();
  const auto total = static_cast<std::size_t>(step.pieces * run_.memory.piece_bytes);
  const auto most = static_cast<std::size_t>(run_.message_bytes);
  for (std::size_t offset = 0; offset < total; offset += most) {
    if (flight_.size() == run_.in_flight) finish_first();
    const std::size_t bytes = std::min(most, total - offset);
    Part part{s, offset, bytes, offset + bytes == total, nullptr, {}, nullptr};
    if (step.kind == collective::CollectiveStepOperation::kReceiveReduce) {
      part.staged =
          staging_.data() + parts_++ % run_.in_flight * (staging_.size() / run_.in_flight);
      part.waits = waits;
    }
    part.transfer = start(step, part);
    flight_.push_back(std::move(part));
  }
}

std::unique_ptr<MessageTransfer> CollectiveChannelRunner::start(
    const collective::CollectiveScheduleStep& step, const Part& part) {
  const RankCollectiveBuffers& memory = run_.memory;
  if (collective::sends(step)) {
    return run_.transport.start_send(
        channel_.lane, step.peer,
        memory.readable_piece_bytes(step.source, step.pieces).subspan(part.offset, part.bytes));
  }
  std::span<std::byte> target(part.staged, part.bytes);
  if (part.staged == nullptr) {
    target = memory.writable_piece_bytes(step.target, step.pieces).subspan(part.offset, part.bytes);
  }
  return run_.transport.start_receive(channel_.lane, step.peer, target);
}

bool CollectiveChannelRunner::clashes(const collective::CollectiveScheduleStep& step) const {
  return std::ranges::any_of(
      flight_, [&](const Part& part) { return must_follow(step, channel_.steps[part.step]); });
}

void CollectiveChannelRunner::apply_own(const collective::CollectiveScheduleStep& step) {
  const std::span<std::byte> target = run_.memory.writable_piece_bytes(step.target, step.pieces);
  const std::span<const std::byte> source =
      run_.memory.readable_piece_bytes(step.source, step.pieces);
  // nothing to copy: the caller gathers in place
  if (target.empty() || target.data() == source.data()) return;
  if (step.kind == collective::CollectiveStepOperation::kCopy) {
    std::memcpy(target.data(), source.data(), target.size());
  } else {
    combine_elements(run_.reduction, target, source, target);
  }
}

void CollectiveChannelRunner::finish_first() {
  const Part part = std::move(flight_.front());
  flight_.pop_front();
  part.transfer->wait_for_transfer();
  const collective::CollectiveScheduleStep& step = channel_.steps[part.step];
  if (part.staged != nullptr) {
    run_.state.wait_for_steps(part.waits);
    combine_elements(
        run_.reduction,
        run_.memory.writable_piece_bytes(step.target, step.pieces).subspan(part.offset, part.bytes),
        {part.staged, part.bytes},
        run_.memory.readable_piece_bytes(step.source, step.pieces)
            .subspan(part.offset, part.bytes));
  }
  if (part.last) run_.state.mark_step_done(index_);
}

void CollectiveChannelRunner::drain() {
  while (!flight_.empty()) finish_first();
}

}  // namespace stepwright::transport
