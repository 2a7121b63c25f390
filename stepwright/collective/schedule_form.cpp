#include "stepwright/collective/schedule_form.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::collective {
namespace {

constexpr std::string_view kBufferWords[] = {"input", "output", "scratch"};

bool holds(const CollectiveSchedule& frame, PieceRunStart place, std::int32_t pieces) {
  const auto buffer = static_cast<std::size_t>(place.buffer);
  return buffer < 3 && pieces > 0 &&
         place.piece + std::int64_t{pieces} <= piece_count_of_rank_buffer(frame, place.buffer);
}

std::optional<std::string> malformed_step(const CollectiveSchedule& frame,
                                          const CollectiveScheduleStep& step, std::int32_t ranks) {
  if (reads(step) && !holds(frame, step.source, step.pieces)) {
    return fmt::format("no {} pieces from {}", step.pieces, piece_location_text(step.source));
  }
  if (writes(step) && !holds(frame, step.target, step.pieces)) {
    return fmt::format("no {} pieces from {}", step.pieces, piece_location_text(step.target));
  }
  if (writes(step) && step.target.buffer == RankBufferKind::kInput) return "writes to its input";
  const bool remote = sends(step) || receives(step);
  if (remote && (step.peer < 0 || step.peer >= ranks)) return fmt::format("no rank {}", step.peer);
  return {};
}

bool malformed_wait(const RankCollectiveSchedule& rank, const RankStepSequence& channel,
                    std::size_t index) {
  const CollectiveStepDependency& wait = channel.waits[index];
  if (wait.step < 0 || wait.step >= std::ssize(channel.steps)) return true;
  if (index > 0 && channel.waits[index - 1].step > wait.step) return true;
  if (wait.on.channel < 0 || wait.on.channel >= std::ssize(rank.channels)) return true;
  const RankStepSequence& on = rank.channels[static_cast<std::size_t>(wait.on.channel)];
  return wait.on.step < 0 || wait.on.step >= std::ssize(on.steps);
}

/// Returns a defect if messages of a lane to (or from) one peer are on several channels.
std::optional<CollectiveScheduleDefect> ambiguous(const RankCollectiveSchedule& rank,
                                                  std::int32_t ranks) {
  std::map<std::pair<std::uint8_t, bool>, std::vector<std::int32_t>> channels;
  for (std::int32_t c = 0; c < std::ssize(rank.channels); ++c) {
    const RankStepSequence& channel = rank.channels[static_cast<std::size_t>(c)];
    for (std::int32_t s = 0; s < std::ssize(channel.steps); ++s) {
      const CollectiveScheduleStep& step = channel.steps[static_cast<std::size_t>(s)];
      if (step.peer < 0) continue;
      auto& by_peer = channels[{channel.lane, sends(step)}];
      by_peer.resize(static_cast<std::size_t>(ranks), -1);
      std::int32_t& known = by_peer[static_cast<std::size_t>(step.peer)];
      if (known >= 0 && known != c) {
        return CollectiveScheduleDefect{
            CollectiveScheduleDefectKind::kAmbiguous,
            0,
            {c, s},
            fmt::format("messages of lane {} with rank {} stand in two channels", channel.lane,
                        step.peer)};
      }
      known = c;
    }
  }
  return {};
}

}  // namespace

std::string piece_location_text(PieceRunStart place) {
  return fmt::format("piece {} of its {}", std::uint32_t{place.piece},
                     kBufferWords[static_cast<std::size_t>(place.buffer)]);
}

std::optional<CollectiveScheduleDefect> first_malformed_step(const CollectiveSchedule& frame,
                                                             const RankCollectiveSchedule& rank,
                                                             std::int32_t ranks) {
  for (std::int32_t c = 0; c < std::ssize(rank.channels); ++c) {
    const RankStepSequence& channel = rank.channels[static_cast<std::size_t>(c)];
    for (std::int32_t s = 0; s < std::ssize(channel.steps); ++s) {
      const CollectiveScheduleStep& step = channel.steps[static_cast<std::size_t>(s)];
      if (const auto text = malformed_step(frame, step, ranks)) {
        return CollectiveScheduleDefect{CollectiveScheduleDefectKind::kMalformed, 0, {c, s}, *text};
      }
    }
    for (std::size_t w = 0; w < channel.waits.size(); ++w) {
      if (malformed_wait(rank, channel, w)) {
        return CollectiveScheduleDefect{CollectiveScheduleDefectKind::kMalformed,
                                        0,
                                        {c, channel.waits[w].step},
                                        "a wait for no step, or out of order"};
      }
    }
  }
  return ambiguous(rank, ranks);
}

}  // namespace stepwright::collective
