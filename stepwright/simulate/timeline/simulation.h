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

/// Where the time of one stage goes; the terms sum to the step time.
struct Breakdown {
  double compute_s =
      0;  ///< Forward and backward kernels, including recomputation, without slow-down by messages.
  double bubble_s = 0;  ///< Waiting for other stages, and for ranks that have more work.
  double optimizer_s = 0;
  /// Exposed communication, including the slow-down of computation beside it.
  double tensor_s = 0;
  double context_s = 0;
  double expert_s = 0;
  double pipeline_s = 0;
  double data_s = 0;  ///< Exposed messages of gradients and parameters, and small control messages.
  double host_s = 0;  ///< Exposed copies to and from the host.
  ComputeSeconds computation{};  ///< Seconds of `compute_s`, by kind.
  ComputeSeconds recomputed{};   ///< The part of `computation` that repeats a forward.
  [[nodiscard]] double total() const {
    return compute_s + bubble_s + optimizer_s + tensor_s + context_s + expert_s + pipeline_s +
           data_s + host_s;
  }
  /// Seconds of `compute_s` that repeat a forward.
  [[nodiscard]] double recomputed_s() const {
    return std::accumulate(recomputed.begin(), recomputed.end(), 0.0);
  }
};

/// One operator on the timeline.
struct Event {
  std::int32_t stage = 0;
  std::int32_t which = 0;      ///< Index of the operator's template.
  std::int32_t operation = 0;  ///< Index of the operator in the template.
  std::int32_t layer = -1;
  std::int32_t micro_batch = -1;
  std::int32_t slot = 0;  ///< Index of the slot in the stage's schedule.
  double start_s = 0;
  double end_s = 0;
};

struct StageTimes {
  Breakdown breakdown;
  double end_s = 0;
  double compute_busy_s = 0;  ///< Priced seconds of computation; equal to the program's total.
  std::array<double, 7> communication_busy_s{};  ///< Priced seconds of messages, by Scheme.
};

struct Simulation {
  double step_time_s = 0;
  /// The stage that waits least for others: a shorter step needs this stage to get shorter.
  std::int32_t critical_stage = 0;
  std::vector<StageTimes> stages;
  std::vector<Event> events;  ///< Operators on the timeline; empty unless recorded.
};

/// Simulates the program: every stage's streams in order, dependences inside templates and between
/// items, messages between stages, and shared links: the messages active on one link class of a
/// rank share it evenly, and computation slows down beside communication (`CostModel::contention`).
/// Deterministic. `record` keeps the events.
Simulation simulate(const step::StepProgram& program, const cost::CostModel& cost,
                    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
                    const plan::Plan& plan, bool record = false);

/// Adds the waits of a step whose micro-batches are unequal.
void add_uneven_waits(Simulation& simulation, double waits_s);

}  // namespace stepwright::simulate
