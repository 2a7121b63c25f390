#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/simulate/timeline/compute_kind.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Where the time of one stage goes in a step, in seconds; the terms add up to the step time.
struct StageTimeBreakdown {
  /// Forward and backward kernels, including recomputation, without slow-down by messages.
  double compute_s = 0;
  double bubble_s = 0;  ///< Seconds of waiting for other stages, and for ranks that have more work.
  double optimizer_s = 0;
  /// Seconds of exposed communication of a scheme (tensor, context, expert, pipeline), including
  /// the slow-down of computation at the same time.
  double tensor_s = 0;
  double context_s = 0;
  double expert_s = 0;
  double pipeline_s = 0;
  /// Seconds of exposed gradient and parameter messages, and of small control messages.
  double data_s = 0;
  double host_s = 0;  ///< Seconds of exposed copies between device and host.
  /// Seconds of `compute_s` (forward and backward kernels), by kind of computation.
  ComputeSeconds computation{};
  /// Seconds of `compute_s` that recomputation repeats, by kind of computation.
  ComputeSeconds recomputed{};
  [[nodiscard]] double total() const {
    return compute_s + bubble_s + optimizer_s + tensor_s + context_s + expert_s + pipeline_s +
           data_s + host_s;
  }
  /// Returns the seconds of `compute_s` that recomputation repeats.
  [[nodiscard]] double recomputation_s() const {
    return std::accumulate(recomputed.begin(), recomputed.end(), 0.0);
  }
};

/// One operator on the timeline of a simulated step.
struct TimelineEvent {
  std::int32_t stage = 0;
  std::int32_t which = 0;      ///< Index of the operator's template in the step program.
  std::int32_t operation = 0;  ///< Index of the operator in its template.
  std::int32_t layer = -1;
  std::int32_t micro_batch = -1;
  std::int32_t slot = 0;  ///< Index of the operator's entry in the schedule of its pipeline stage.
  double start_s = 0;
  double end_s = 0;
};

struct StageTimes {
  StageTimeBreakdown breakdown;
  double end_s = 0;
  /// Predicted seconds of computation, without slow-down; equal to the total of the program.
  double compute_busy_s = 0;
  /// Predicted seconds of messages that run alone, by `step::ParallelismScheme`.
  std::array<double, 7> communication_busy_s{};
};

struct Simulation {
  double step_time_s = 0;
  /// Index of the stage that waits least for others; the step gets shorter only if this stage does.
  std::int32_t critical_stage = 0;
  std::vector<StageTimes> stages;
  std::vector<TimelineEvent> events;  ///< Operators on the timeline; empty unless recorded.
};

/// Simulates a step program: the streams of every stage in order, dependences inside and between
/// templates, messages between stages, and shared links. Messages on one link class of a rank share
/// it evenly, and computation slows down beside communication (`CostModel::contention`).
/// Deterministic. `record`: keeps the events.
Simulation simulate_step_program(const step::StepProgram& program, const cost::CostModel& cost,
                                 const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                                 const plan::Plan& plan, bool record = false);

/// Adds the waits that micro-batches of unequal work cause, in seconds, to a simulated step.
void add_uneven_micro_batch_waits(Simulation& simulation, double waits_s);

}  // namespace stepwright::simulate
