#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/framework_time_range.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Operators whose sizes lie outside of the sizes that were measured for their price, grouped by
/// how they differ.
struct UnmeasuredOperatorSizes {
  std::vector<std::string> operators;  ///< Names of the operators: "mlp.fc1".
  std::string how;  ///< How the sizes differ: "columns 28,672, measured 2,048 to 8,192".
};

/// Everything that is predicted about one plan: step program, simulated step time, step time in
/// closed form (price), memory and efficiency. Model FLOPs count attention without halving it for
/// the causal mask; the peak rate is that of the job's precision.
struct PlanPrediction {
  plan::PlannedJob planned;
  step::StepProgram program;
  Simulation simulation;
  memory::MemoryReport memory;
  PlanPrice price;
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  /// Model FLOPs per token, forward and backward, at the job's sequence length.
  double flops_per_token = 0;
  double tokens_per_s_per_device = 0;
  /// Model FLOPs of a step, divided by its time and its devices.
  double flops_per_s_per_device = 0;
  double peak_flops = 0;  ///< Peak FLOP/s of a device in the job's precision, without sparsity.
  double mfu = 0;         ///< MFU: `flops_per_s_per_device` over `peak_flops`.
  /// MFU that does not count the FLOPs of attention behind the causal mask.
  double unmasked_mfu = 0;
  /// HFU: like MFU, but with the FLOPs that recomputation repeats.
  double hfu = 0;
  /// 80 % confidence interval of the step time, as shares of the step time.
  cost::StepTimeRatioInterval interval;
  /// Range of step times over frameworks; nullopt if the job names its framework.
  std::optional<FrameworkTimeRange> frameworks;
  std::vector<std::string> notes;  ///< Remarks on this plan for users, most important first.
  /// Remarks for users on the assumptions and sources of the predicted figures.
  std::vector<std::string> basis;
  /// Operators whose sizes lie outside of the measured sizes; empty: all sizes were measured.
  std::vector<UnmeasuredOperatorSizes> unmeasured;

  [[nodiscard]] double step_time_s() const { return simulation.step_time_s; }
  /// Returns tokens per second over all devices, padding included.
  [[nodiscard]] double tokens_per_s() const {
    return step::step_tokens(planned.job, planned.plan).slots / step_time_s();
  }
  /// Returns all remarks for users: first those on the plan, then those on assumptions and sources.
  [[nodiscard]] std::vector<std::string> ordered_prediction_notes() const;
};

/// Predicts program, memory, closed-form price and simulated time of a plan. An `auto` schedule
/// without an order gets one first (`resolve_schedule_order`). Throws `Error{kInput}` with the
/// broken rule if the plan is not legal. `record`: keeps the events of the timeline; fails with
/// `kInput` if there are more than four million.
PlanPrediction predict_plan(const plan::PlannedJob& planned, bool record = false);

/// Returns the seconds of each operator of each template ([template][operator]) when it runs alone:
/// for a message, without the slow-down by work at the same time.
std::vector<std::vector<double>> isolated_operator_seconds(const PlanPrediction& prediction);

/// Returns the JSON document of `stepwright predict --json` (docs/formats.md, "Prediction").
nlohmann::ordered_json prediction_json(const PlanPrediction& prediction);

/// Returns a time breakdown as JSON: `compute_s`, `computation` {...}, `bubble_s`, `optimizer_s`,
/// `exposed` {...}.
nlohmann::ordered_json time_breakdown_json(const StageTimeBreakdown& breakdown);

}  // namespace stepwright::simulate
