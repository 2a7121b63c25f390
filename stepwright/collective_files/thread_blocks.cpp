#include "stepwright/collective_files/thread_blocks.h"

#include <algorithm>
#include <array>
#include <compare>
#include <set>
#include <utility>

namespace stepwright::collective_files {
namespace {

/// Returns the steps of a rank in an order that its channels and waits allow.
std::vector<collective::CollectiveStepReference> in_sequence(
    const collective::RankCollectiveSchedule& rank) {
  std::vector<std::int32_t> done(rank.channels.size());
  std::vector<std::size_t> waited(rank.channels.size());
  const auto ready = [&](std::size_t c) {
    const collective::RankStepSequence& channel = rank.channels[c];
    if (done[c] == std::ssize(channel.steps)) return false;
    for (; waited[c] < channel.waits.size(); ++waited[c]) {
      const collective::CollectiveStepDependency& wait = channel.waits[waited[c]];
      if (wait.step > done[c]) break;
      if (done[static_cast<std::size_t>(wait.on.channel)] <= wait.on.step) return false;
    }
    return true;
  };
  std::vector<collective::CollectiveStepReference> sequence;
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t c = 0; c < rank.channels.size(); ++c) {
      for (; ready(c); progress = true) {
        sequence.push_back({static_cast<std::int32_t>(c), done[c]++});
      }
    }
  }
  return sequence;
}

collective::PieceRunStart moved(collective::PieceRunStart run, std::int32_t pieces) {
  run.piece =
      (run.piece + static_cast<std::uint32_t>(pieces)) & collective::kMaxSchedulePiecesPerBuffer;
  return run;
}

/// For each thread block, the number of its completed steps.
using BlockClock = std::vector<std::int32_t>;

bool is_over(const BlockClock& clock, collective::CollectiveStepReference step) {
  const auto block = static_cast<std::size_t>(step.channel);
  return block < clock.size() && clock[block] > step.step;
}

void merge(BlockClock& clock, const BlockClock& other) {
  clock.resize(std::max(clock.size(), other.size()));
  for (std::size_t b = 0; b < other.size(); ++b) clock[b] = std::max(clock[b], other[b]);
}

/// The last accesses of a rank's steps to its memory.
class TouchedPieces {
 public:
  explicit TouchedPieces(const collective::CollectiveSchedule& schedule) {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      buffers_[b].resize(static_cast<std::size_t>(collective::piece_count_of_rank_buffer(
          schedule, static_cast<collective::RankBufferKind>(b))));
    }
  }

  /// Returns the steps that must be completed before `step`, whose own reference is `self`.
  std::vector<collective::CollectiveStepReference> before(
      const collective::CollectiveScheduleStep& step, collective::CollectiveStepReference self) {
    earlier_.clear();
    const bool adds_to_target = step.kind == collective::CollectiveStepOperation::kReduce;
    if (collective::reads(step)) read(step.source, step.pieces, self);
    if (adds_to_target) read(step.target, step.pieces, self);
    if (collective::writes(step)) write(step.target, step.pieces, self);
    std::vector<collective::CollectiveStepReference> list;
    for (const auto& [block, number] : earlier_) {
      if (block != self.channel) list.push_back({block, number});
    }
    return list;
  }

 private:
  struct Piece {
    collective::CollectiveStepReference writer;
    /// Steps that have read the piece since it was written.
    std::vector<collective::CollectiveStepReference> readers;
  };

  void add(collective::CollectiveStepReference step) {
    if (step.exists()) earlier_.emplace(step.channel, step.step);
  }

  Piece& piece(collective::PieceRunStart run, std::int32_t i) {
    return buffers_[static_cast<std::size_t>(run.buffer)][moved(run, i).piece];
  }

  void read(collective::PieceRunStart run, std::int32_t pieces,
            collective::CollectiveStepReference self) {
    if (run.buffer == collective::RankBufferKind::kInput) return;
    for (std::int32_t i = 0; i < pieces; ++i) {
      Piece& touched = piece(run, i);
      add(touched.writer);
      touched.readers.push_back(self);
    }
  }

  void write(collective::PieceRunStart run, std::int32_t pieces,
             collective::CollectiveStepReference self) {
    for (std::int32_t i = 0; i < pieces; ++i) {
      Piece& touched = piece(run, i);
      add(touched.writer);
      for (const collective::CollectiveStepReference reader : touched.readers) add(reader);
      touched = {.writer = self, .readers = {}};
    }
  }

  std::array<std::vector<Piece>, 3> buffers_;
  std::set<std::pair<std::int32_t, std::int32_t>> earlier_;
};

/// Splits one rank into thread blocks.
class BlockCutter {
 public:
  BlockCutter(const MscclThreadBlockInput& source, std::int32_t rank)
      : source_(source),
        rank_(rank),
        own_(source.schedule.ranks[static_cast<std::size_t>(rank)]),
        last_block_(own_.channels.size(), kNoBlock),
        touched_(source.schedule) {}

  std::vector<MscclThreadBlock> blocks() {
    for (const collective::CollectiveStepReference ref : in_sequence(own_)) {
      const auto channel = static_cast<std::size_t>(ref.channel);
      cut(channel, own_.channels[channel].steps[static_cast<std::size_t>(ref.step)]);
    }
    return std::move(blocks_);
  }

 private:
  static constexpr std::size_t kNoBlock = -1;

  /// Returns the thread block of a step. All steps of a flow are on one channel, so its thread
  /// block keeps their order.
  std::size_t block_of(std::size_t channel, const collective::CollectiveScheduleStep& step) {
    const std::uint8_t lane = own_.channels[channel].lane;
    std::size_t& last = last_block_[channel];
    if (!collective::sends(step) && !collective::receives(step)) {
      if (last == kNoBlock) last = added({});
      return last;
    }
    const MessageFlow flow = collective::sends(step) ? MessageFlow{lane, rank_, step.peer}
                                                     : MessageFlow{lane, step.peer, rank_};
    const auto known = block_of_flow_.find(flow);
    if (known != block_of_flow_.end()) return last = known->second;
    last = added({.send_peer = collective::sends(step) ? step.peer : -1,
                  .receive_peer = collective::sends(step) ? -1 : step.peer,
                  .channel = source_.channels.at(flow)});
    return block_of_flow_[flow] = last;
  }

  std::size_t added(MscclThreadBlock block) {
    blocks_.push_back(std::move(block));
    clocks_.emplace_back();
    return blocks_.size() - 1;
  }

  collective::PieceRunStart landing(std::size_t channel,
                                    const collective::CollectiveScheduleStep& step) {
    if (!collective::sends(step)) return {};
    const MessageFlow flow{own_.channels[channel].lane, rank_, step.peer};
    return source_.landings.at(flow)[sent_[flow]++].step->target;
  }

  /// Splits a long step; both ends of a message split it in the same way.
  void cut(std::size_t channel, const collective::CollectiveScheduleStep& whole) {
    const std::size_t block = block_of(channel, whole);
    const collective::PieceRunStart lands = landing(channel, whole);
    for (std::int32_t first = 0; first < whole.pieces; first += source_.most_pieces) {
      MscclThreadBlockStep part{.step = whole, .lands = moved(lands, first)};
      part.step.source = moved(whole.source, first);
      part.step.target = moved(whole.target, first);
      part.step.pieces = std::min(source_.most_pieces, whole.pieces - first);
      append(block, std::move(part));
    }
  }

  void append(std::size_t block, MscclThreadBlockStep step) {
    std::vector<MscclThreadBlockStep>& steps = blocks_[block].steps;
    const collective::CollectiveStepReference self{static_cast<std::int32_t>(block),
                                                   static_cast<std::int32_t>(std::ssize(steps))};
    BlockClock clock = steps.empty() ? BlockClock() : clocks_[block].back();
    clock.resize(std::max(clock.size(), block + 1));
    clock[block] = self.step;
    step.after = needed(touched_.before(step.step, self), clock);
    for (const collective::CollectiveStepReference earlier : step.after) {
      blocks_[static_cast<std::size_t>(earlier.channel)]
          .steps[static_cast<std::size_t>(earlier.step)]
          .awaited = true;
      merge(clock, clock_of(earlier));
      clock[static_cast<std::size_t>(earlier.channel)] =
          std::max(clock[static_cast<std::size_t>(earlier.channel)], earlier.step + 1);
    }
    steps.push_back(std::move(step));
    clocks_[block].push_back(std::move(clock));
  }

  /// Returns those steps of `earlier` that neither the thread block's own order nor another of
  /// these steps implies.
  [[nodiscard]] std::vector<collective::CollectiveStepReference> needed(
      const std::vector<collective::CollectiveStepReference>& earlier,
      const BlockClock& clock) const {
    std::vector<collective::CollectiveStepReference> list;
    for (const collective::CollectiveStepReference step : earlier) {
      const auto implies = [&](collective::CollectiveStepReference other) {
        return is_over(clock_of(other), step);
      };
      if (!is_over(clock, step) && std::none_of(earlier.begin(), earlier.end(), implies)) {
        list.push_back(step);
      }
    }
    return list;
  }

  /// Returns the clock of the steps that are completed when a step starts.
  [[nodiscard]] const BlockClock& clock_of(collective::CollectiveStepReference step) const {
    return clocks_[static_cast<std::size_t>(step.channel)][static_cast<std::size_t>(step.step)];
  }

  const MscclThreadBlockInput& source_;
  std::int32_t rank_;
  const collective::RankCollectiveSchedule& own_;
  std::vector<MscclThreadBlock> blocks_;
  std::map<MessageFlow, std::size_t> block_of_flow_;
  std::vector<std::size_t> last_block_;  ///< The thread block of each channel's latest step.
  std::map<MessageFlow, std::size_t> sent_;
  TouchedPieces touched_;
  /// For each thread block and step, the clock at its start.
  std::vector<std::vector<BlockClock>> clocks_;
};

}  // namespace

FlowChannels assign_msccl_channels(const ReceivesOfFlows& landings, int most_peers) {
  FlowChannels channels;
  /// Used so far: ranks and channel of each connection, and numbers of flows out of (true) and into
  /// a rank on a channel.
  std::set<std::array<std::int32_t, 3>> connections;
  std::map<std::array<std::int32_t, 2>, std::array<int, 2>> peers;
  for (const auto& [flow, unused] : landings) {
    int channel = 0;
    while (connections.contains({flow.from, flow.to, channel}) ||
           peers[{flow.from, channel}][0] == most_peers ||
           peers[{flow.to, channel}][1] == most_peers) {
      ++channel;
    }
    connections.insert({flow.from, flow.to, channel});
    ++peers[{flow.from, channel}][0];
    ++peers[{flow.to, channel}][1];
    channels[flow] = channel;
  }
  return channels;
}

std::vector<MscclThreadBlock> msccl_thread_blocks(const MscclThreadBlockInput& source,
                                                  std::int32_t rank) {
  return BlockCutter(source, rank).blocks();
}

}  // namespace stepwright::collective_files
