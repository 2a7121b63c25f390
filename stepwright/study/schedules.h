#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/schedule.h"

namespace stepwright::study {

/// The result of simulating one kind of pipeline schedule without communication.
struct PipelineScheduleSimulation {
  schedule::PipelineSchedule schedule;
  /// Reason why this kind of schedule cannot run on the pipeline; empty: it can.
  std::string refused;
  /// Work items of each pipeline stage, in order: forwards and backwards of micro-batches.
  std::vector<schedule::Turns> turns;
  /// Start time in seconds of each work item; first index: pipeline stage, second: index in
  /// `turns`.
  std::vector<std::vector<double>> starts_s;
  std::vector<std::vector<double>> ends_s;
  double makespan_s = 0;
  std::vector<double> idle_s;  ///< Idle seconds of each pipeline stage.
  /// Peak activation memory of each pipeline stage, in units of one micro-batch's activations on a
  /// whole stage. Activations are kept until their weight gradient is done; in a paired forward and
  /// backward, the backward frees before the forward allocates.
  std::vector<double> peak_activations;
  /// Seconds that a closed-form formula gives for the schedule; nullopt: it has no formula.
  std::optional<double> closed_form_s;
};

/// The most work items, over all stages, that are studied; the next constants limit the number of
/// stages, the seconds of a stage, and the ratio of the longest to the shortest time (beyond it,
/// double precision would lose the shortest).
inline constexpr std::int64_t kMaxStudiedScheduleItems = 4'000'000;
inline constexpr std::int64_t kMostStages = 4096;
inline constexpr double kLongestStage = 1e9;
inline constexpr double kLargestRatio = 1e6;

/// Simulates every kind of pipeline schedule. `finds`: also search for a better order (`auto`), for
/// a fifth of a second. Fails with `kInput` if stages, micro-batches or times exceed the study's
/// limits, or if times contradict each other.
std::vector<PipelineScheduleSimulation> study_pipeline_schedules(
    const schedule::UniformPipeline& pipeline, bool finds = true);

/// Returns the JSON document that `stepwright study schedules --json` prints.
nlohmann::ordered_json schedules_study_json(const std::vector<PipelineScheduleSimulation>& plays);

}  // namespace stepwright::study
