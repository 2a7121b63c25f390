#include "stepwright/collective/local_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/collective/schedule_form.h"

namespace stepwright::collective {
namespace {

/// Checks the order among the steps of one rank.
class LocalOrder {
 public:
  LocalOrder(const CollectiveSchedule& frame, const RankCollectiveSchedule& rank)
      : rank_(rank),
        width_(rank.channels.size()),
        done_(width_),
        waited_(width_),
        clocks_(width_),
        now_(width_) {
    for (std::size_t c = 0; c < width_; ++c)
      clocks_[c].resize(rank.channels[c].steps.size() * width_);
    for (int b = 0; b < 3; ++b) {
      const auto pieces = static_cast<std::size_t>(
          piece_count_of_rank_buffer(frame, static_cast<RankBufferKind>(b)));
      writers_[b].resize(pieces);
      readers_[b].resize(b == 0 ? 0 : pieces * width_);
    }
  }

  std::optional<CollectiveScheduleDefect> run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t c = 0; c < width_; ++c) {
        while (ready(c)) {
          if (auto defect = take(c)) return defect;
          progress = true;
        }
      }
    }
    for (std::size_t c = 0; c < width_; ++c) {
      if (done_[c] < std::ssize(rank_.channels[c].steps)) {
        return CollectiveScheduleDefect{CollectiveScheduleDefectKind::kDeadlock, 0, ref(c),
                                        "waits in a circle"};
      }
    }
    return {};
  }

 private:
  [[nodiscard]] CollectiveStepReference ref(std::size_t channel) const {
    return {static_cast<std::int32_t>(channel), done_[channel]};
  }

  /// True if the next step of a channel exists and all its waits are over; consumes the waits.
  bool ready(std::size_t c) {
    const RankStepSequence& channel = rank_.channels[c];
    if (done_[c] == std::ssize(channel.steps)) return false;
    for (std::size_t w = waited_[c]; w < channel.waits.size(); ++w) {
      const CollectiveStepDependency& wait = channel.waits[w];
      if (wait.step > done_[c]) break;
      if (done_[static_cast<std::size_t>(wait.on.channel)] <= wait.on.step) return false;
    }
    return true;
  }

  /// Marks as completed the steps that are completed when the next step of channel c starts.
  void advance_clock(std::size_t c) {
    const RankStepSequence& channel = rank_.channels[c];
    const auto step = static_cast<std::size_t>(done_[c]);
    std::int32_t* now = clocks_[c].data() + step * width_;
    if (step > 0) std::copy_n(now - width_, width_, now);
    now[c] = done_[c];
    for (; waited_[c] < channel.waits.size(); ++waited_[c]) {
      const CollectiveStepDependency& wait = channel.waits[waited_[c]];
      if (wait.step > done_[c]) break;
      const auto on = static_cast<std::size_t>(wait.on.channel);
      const std::int32_t* then =
          clocks_[on].data() + static_cast<std::size_t>(wait.on.step) * width_;
      for (std::size_t k = 0; k < width_; ++k) now[k] = std::max(now[k], then[k]);
      now[on] = std::max(now[on], wait.on.step + 1);
    }
    now_ = {now, now + width_};
  }

  std::optional<CollectiveScheduleDefect> take(std::size_t c) {
    advance_clock(c);
    const CollectiveScheduleStep& step =
        rank_.channels[c].steps[static_cast<std::size_t>(done_[c])];
    std::optional<CollectiveScheduleDefect> defect;
    for (std::int32_t i = 0; i < step.pieces && !defect; ++i) {
      if (reads(step)) defect = read(c, step.source, i);
      if (!defect && step.kind == CollectiveStepOperation::kReduce)
        defect = read(c, step.target, i);
    }
    for (std::int32_t i = 0; i < step.pieces && !defect; ++i) {
      if (writes(step)) defect = write(c, step.target, i);
    }
    ++done_[c];
    return defect;
  }

  /// True if step `step` - 1 of a channel is completed.
  [[nodiscard]] bool over(std::size_t channel, std::int32_t step) const {
    return now_[channel] >= step;
  }

  std::optional<CollectiveScheduleDefect> fault(std::size_t c, CollectiveScheduleDefectKind kind,
                                                PieceRunStart place, std::int32_t i,
                                                std::string_view what) const {
    place.piece = (place.piece + static_cast<std::uint32_t>(i)) & kMaxSchedulePiecesPerBuffer;
    return CollectiveScheduleDefect{kind, 0, ref(c),
                                    fmt::format("{} {}", what, piece_location_text(place))};
  }

  std::optional<CollectiveScheduleDefect> read(std::size_t c, PieceRunStart place, std::int32_t i) {
    if (place.buffer == RankBufferKind::kInput) return {};
    const auto buffer = static_cast<std::size_t>(place.buffer);
    const std::size_t piece = place.piece + static_cast<std::size_t>(i);
    const auto [channel, step] = writers_[buffer][piece];
    if (step == 0)
      return fault(c, CollectiveScheduleDefectKind::kUnwritten, place, i, "nothing has written");
    if (!over(static_cast<std::size_t>(channel), step)) {
      return fault(c, CollectiveScheduleDefectKind::kConflict, place, i,
                   "a write may still be under way to");
    }
    readers_[buffer][piece * width_ + c] = done_[c] + 1;
    return {};
  }

  std::optional<CollectiveScheduleDefect> write(std::size_t c, PieceRunStart place,
                                                std::int32_t i) {
    const auto buffer = static_cast<std::size_t>(place.buffer);
    const std::size_t piece = place.piece + static_cast<std::size_t>(i);
    auto& [channel, step] = writers_[buffer][piece];
    if (!over(static_cast<std::size_t>(channel), step)) {
      return fault(c, CollectiveScheduleDefectKind::kConflict, place, i,
                   "another write may be under way to");
    }
    for (std::size_t k = 0; k < width_; ++k) {
      std::int32_t& reader = readers_[buffer][piece * width_ + k];
      if (k != c && !over(k, reader)) {
        return fault(c, CollectiveScheduleDefectKind::kConflict, place, i,
                     "a read may still be under way of");
      }
      reader = 0;
    }
    channel = static_cast<std::int32_t>(c);
    step = done_[c] + 1;
    return {};
  }

  const RankCollectiveSchedule& rank_;
  std::size_t width_;
  std::vector<std::int32_t> done_;   ///< For each channel, the number of executed steps.
  std::vector<std::size_t> waited_;  ///< For each channel, the number of consumed waits.
  std::vector<std::vector<std::int32_t>> clocks_;
  /// For each channel, the number of its steps that are completed before the current step.
  std::vector<std::int32_t> now_;
  /// For each buffer and piece: channel and index + 1 of the last write; 0: none.
  std::array<std::vector<std::pair<std::int32_t, std::int32_t>>, 3> writers_;
  /// For each buffer, piece and channel: index + 1 of the last read since the last write.
  std::array<std::vector<std::int32_t>, 3> readers_;
};

}  // namespace

std::optional<CollectiveScheduleDefect> first_unordered_step(const CollectiveSchedule& frame,
                                                             const RankCollectiveSchedule& rank) {
  return LocalOrder(frame, rank).run();
}

}  // namespace stepwright::collective
