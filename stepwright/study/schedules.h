#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/schedule.h"

namespace stepwright::study {

/// A pipeline schedule simulated without communication.
struct ScheduleSimulation {
  schedule::Schedule schedule;
  std::string refused;  ///< Reason why the schedule cannot run on this pipeline; empty: it can.
  std::vector<schedule::Turns> turns;  ///< Work items (turns) of each pipeline position, in order.
  /// Start seconds, by pipeline position and index in `turns`.
  std::vector<std::vector<double>> starts_s;
  std::vector<std::vector<double>> ends_s;
  double makespan_s = 0;
  std::vector<double> idle_s;  ///< Idle seconds of each pipeline position.
  /// Peak activation memory of each pipeline position; the unit is the activations of one
  /// micro-batch on a whole position. Activations are kept until the weight gradient is done; if a
  /// forward and a backward pass are paired, the backward frees before the forward allocates.
  std::vector<double> peak_activations;
  /// Seconds by the closed form; nullopt: the schedule has none.
  std::optional<double> closed_form_s;
};

/// Limits of a study: the most turns (entries of all positions' schedules), the most stages, the
/// longest time of a stage, and the largest ratio of the longest to the shortest time (beyond it,
/// sums in double precision would lose the shortest).
inline constexpr std::int64_t kMostTurns = 4'000'000;
inline constexpr std::int64_t kMostStages = 4096;
inline constexpr double kLongestStage = 1e9;
inline constexpr double kLargestRatio = 1e6;

/// Simulates every kind of schedule. `finds`: also search an order (`auto`), for a fifth of a
/// second. Fails with `kInput` if stages, micro-batches or times exceed the limits above, if a
/// forward or backward pass takes no time, or if the weight gradients take longer than the backward
/// pass that contains them.
std::vector<ScheduleSimulation> study_schedules(const schedule::UniformPipeline& pipeline,
                                                bool finds = true);

/// Returns the answer of `stepwright study schedules --json`.
nlohmann::ordered_json schedules_study_json(const std::vector<ScheduleSimulation>& plays);

}  // namespace stepwright::study
