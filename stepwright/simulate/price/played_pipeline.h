#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stepwright/plan/plan.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/turn_play.h"

namespace stepwright {

/// The consequences of a schedule without closed forms, from its turns, for one number of stages
/// and of micro-batches.
struct PlayedSchedule {
  Placement placement;
  /// The turns by position, of at most `kPlayedRounds` rounds of micro-batches; with one strand
  /// without pairs.
  std::vector<Turns> turns;
  TurnOrder order;
  std::vector<std::vector<Moment>> fullest;  ///< By position.
  std::vector<std::int64_t> weights_at_end;  ///< By position.
};

/// Micro-batches of a pipeline that are played, in multiples of its stages or, where micro-batches
/// come in groups, of a group. What comes after is
/// steady: each further micro-batch takes as long as those of the last round did in the mean.
inline constexpr std::int64_t kPlayedRounds = 8;

/// Micro-batches times chunks of the model that are played in full at most: some milliseconds.
inline constexpr std::int64_t kMostPlayedTurns = 40'000;

/// Plays schedules for the pricer. Remembers turns and what they imply; not shared between threads.
class PlayedPipeline {
 public:
  /// The schedule of at most `kPlayedRounds` rounds. The reference is valid until the next call.
  const PlayedSchedule& schedule(const Plan& plan, std::int64_t micro_batches);

  /// Seconds of `micro_batches` through the pipeline of a plan.
  double seconds(const Plan& plan, std::int64_t micro_batches, const TurnSeconds& seconds);
  /// The same with every turn played.
  double every_s(const Plan& plan, std::int64_t micro_batches, const TurnSeconds& seconds);

 private:
  /// The schedule with turns alone: seconds do not ask for what waits.
  PlayedSchedule& remembered(const Plan& plan, const Schedule& grouped, std::int64_t played);

  struct Key {
    Schedule schedule;
    std::int64_t stages = 1;
    std::int64_t micro_batches = 1;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, PlayedSchedule> known_;
  std::size_t turns_ = 0;  ///< Remembered.
  TurnPlayer player_;
};

}  // namespace stepwright
