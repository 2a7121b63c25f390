#include "stepwright/schedule/kinds/v_pattern.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace stepwright::schedule {
namespace {

/// Parts of a micro-batch on a position with two chunks. Each part takes one unit of time, and the
/// next micro-batch begins this number of units later.
constexpr std::int64_t kParts = 6;

using Times = std::array<std::int64_t, kParts>;
constexpr std::array<std::pair<Direction, std::int64_t>, kParts> kPartNames = {
    {{Direction::kForward, 0},
     {Direction::kForward, 1},
     {Direction::kDataGradient, 1},
     {Direction::kDataGradient, 0},
     {Direction::kWeightGradient, 1},
     {Direction::kWeightGradient, 0}}};

/// Returns the next time after `after` that falls on `place` of the pattern.
std::int64_t next_at(std::int64_t after, std::int64_t place) {
  return after + 1 + (place - after - 1 + kParts * (1 + after)) % kParts;
}

/// Puts the weight gradients on the two places that other parts leave free, where they wait least.
void place_weights(Times& times) {
  std::array<bool, kParts> taken{};
  for (std::size_t i = 0; i < 4; ++i) taken[static_cast<std::size_t>(times[i] % kParts)] = true;
  std::array<std::int64_t, 2> free{};
  std::size_t found = 0;
  for (std::int64_t place = 0; place < kParts; ++place) {
    if (!taken[static_cast<std::size_t>(place)]) free[found++] = place;
  }
  const auto with = [&](std::int64_t first, std::int64_t second) {
    return std::pair(next_at(times[2], first), next_at(times[3], second));
  };
  const auto straight = with(free[0], free[1]);
  const auto crossed = with(free[1], free[0]);
  const bool shorter = crossed.first + crossed.second < straight.first + straight.second;
  std::tie(times[4], times[5]) = shorter ? crossed : straight;
}

Times times_of(const VSchedulePattern& pattern, const PipelinePositionSizes& size) {
  const auto& [step, wait] = pattern;
  const std::int64_t last = size.stages - 1;
  const std::int64_t up = step[0] * last + 1 + wait[0];
  const std::int64_t back = up + step[1] * last + 1 + wait[1];
  const std::int64_t end = back + step[2] * last + 1 + wait[2];
  Times times{step[0] * size.position,
              up + step[1] * size.pipeline_positions_after_this(),
              back + step[2] * size.position,
              end + step[3] * size.pipeline_positions_after_this(),
              0,
              0};
  place_weights(times);
  return times;
}

}  // namespace

Turns schedule_turns_by_v_pattern(const VSchedulePattern& pattern,
                                  const PipelinePositionSizes& size) {
  const Times times = times_of(pattern, size);
  std::vector<std::pair<std::int64_t, PipelineScheduleTurn>> timed;
  timed.reserve(static_cast<std::size_t>(kParts * size.micro_batches));
  for (std::int64_t i = 0; i < size.micro_batches; ++i) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto& [direction, chunk] = kPartNames[part];
      timed.emplace_back(times[part] + kParts * i, make_single_part_turn(direction, chunk, i));
    }
  }
  std::ranges::sort(timed, {}, &std::pair<std::int64_t, PipelineScheduleTurn>::first);
  Turns turns;
  turns.reserve(timed.size());
  for (const auto& [time, turn] : timed) turns.push_back(turn);
  return turns;
}

}  // namespace stepwright::schedule
