#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/schedule.h"

namespace stepwright::study {

/// A schedule played without communication.
struct SchedulePlay {
  schedule::Schedule schedule;
  std::string refused;                        ///< Why it cannot run there; empty: it can.
  std::vector<schedule::Turns> turns;         ///< Turns of each position.
  std::vector<std::vector<double>> starts_s;  ///< Starts by position and turn.
  std::vector<std::vector<double>> ends_s;
  double makespan_s = 0;
  std::vector<double> idle_s;  ///< Idle seconds of each position.
  /// The peaks by position, in activations of one micro-batch through a whole position, each held
  /// until its weight gradient is done; in a pair the backward frees before the forward allocates.
  std::vector<double> peak_activations;
  std::optional<double> closed_form_s;  ///< Seconds by the closed form, of schedules that have one.
};

/// Most turns that a study plays, most stages, the longest time of a stage, and how many times as
/// long as the shortest: beyond it sums of times would not show the shortest.
inline constexpr std::int64_t kMostTurns = 4'000'000;
inline constexpr std::int64_t kMostStages = 4096;
inline constexpr double kLongestStage = 1e9;
inline constexpr double kLargestRatio = 1e6;

/// Every kind of schedule, played; `finds`: also an order that is looked for (`auto`), for a fifth
/// of a second. Fails with `kInput` where stages, micro-batches or times lie outside of the limits
/// above, a forward or backward takes no time, or the weight gradients take longer than the
/// backward of which they are a part.
std::vector<SchedulePlay> study_schedules(const schedule::UniformPipeline& pipeline,
                                          bool finds = true);

/// The answer of `stepwright study schedules --json`.
nlohmann::ordered_json schedules_study_json(const std::vector<SchedulePlay>& plays);

}  // namespace stepwright::study
