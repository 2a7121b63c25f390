#include "stepwright/collective/rings.h"

#include <utility>

#include "stepwright/collective/ring.h"

namespace stepwright {
namespace {

/// One of the rings as a ring of its own over places, and where its places and pieces really are.
class PlacedRing {
 public:
  PlacedRing(const ScheduleSpec& spec, std::int32_t ring)
      : spec_(spec),
        rings_(ring_count(spec)),
        ring_(ring),
        scratch_(tiered_scratch(ring_tiers(spec), spec.collective)) {}

  [[nodiscard]] RankSchedule of(std::int32_t rank) const {
    RankSchedule own = tiered_rank(ring_tiers(spec_), spec_.collective, place_of(rank));
    for (ScheduleChannel& channel : own.channels) {
      channel.lane = static_cast<std::uint8_t>(ring_);
      for (ScheduleStep& step : channel.steps) {
        if (step.peer >= 0) step.peer = rank_at(step.peer);
        if (reads(step)) step.source = moved(step.source);
        if (writes(step)) step.target = moved(step.target);
      }
    }
    return own;
  }

 private:
  [[nodiscard]] std::int32_t place_of(std::int32_t rank) const {
    const std::int32_t member = rank % rings_;
    return rank - member + (member - ring_ - 1 + rings_) % rings_;
  }
  [[nodiscard]] std::int32_t rank_at(std::int32_t place) const {
    const std::int32_t at = place % rings_;
    return place - at + (at + ring_ + 1) % rings_;
  }

  [[nodiscard]] PieceRun moved(PieceRun run) const {
    const auto piece = static_cast<std::int64_t>(run.piece);
    if (run.buffer == RankBuffer::kScratch)
      return placed(run, std::int64_t{ring_} * scratch_ + piece);
    const Collective whole_elsewhere =
        run.buffer == RankBuffer::kInput ? Collective::kAllGather : Collective::kReduceScatter;
    const std::int64_t block = spec_.collective == whole_elsewhere
                                   ? 0
                                   : rank_at(static_cast<std::int32_t>(piece / spec_.chunks));
    return placed(run, (block * rings_ + ring_) * spec_.chunks + piece % spec_.chunks);
  }
  static PieceRun placed(PieceRun run, std::int64_t piece) {
    run.piece = static_cast<std::uint32_t>(piece) & kMostPieces;
    return run;
  }

  const ScheduleSpec& spec_;
  std::int32_t rings_;
  std::int32_t ring_;
  std::int32_t scratch_;
};

/// Adds the channels of `more`; waits name channels by their number.
void append(RankSchedule& rank, RankSchedule more) {
  const auto before = static_cast<std::int32_t>(std::ssize(rank.channels));
  for (ScheduleChannel& channel : more.channels) {
    for (StepWait& wait : channel.waits) wait.on.channel += before;
    rank.channels.push_back(std::move(channel));
  }
}

}  // namespace

std::int32_t ring_count(const ScheduleSpec& spec) { return ranks_of(spec) / spec.tiers.back(); }

RankSchedule rings_rank(const ScheduleSpec& spec, std::int32_t rank) {
  RankSchedule all;
  for (std::int32_t ring = 0; ring < ring_count(spec); ++ring) {
    append(all, PlacedRing(spec, ring).of(rank));
  }
  return all;
}

}  // namespace stepwright
