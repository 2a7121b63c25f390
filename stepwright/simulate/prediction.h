#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/framework_span.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/timeline/simulation.h"
#include "stepwright/step/document_sizes.h"
#include "stepwright/step/program.h"

namespace stepwright::simulate {

/// Operators whose price was fitted on other sizes, grouped by how their sizes differ.
struct UnmeasuredSizes {
  std::vector<std::string> operators;  ///< Names of the operators, such as "mlp.fc1".
  std::string how;                     ///< "columns 28,672, measured 2,048 to 8,192".
};

/// Everything that is predicted about one plan. Rates: model FLOPs count attention without halving
/// it for the causal mask; the peak rate is that of the job's precision.
struct Prediction {
  plan::PlannedJob planned;
  step::StepProgram program;
  Simulation simulation;
  memory::MemoryReport memory;
  Price price;
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  /// Model FLOPs of a token, forward and backward, at the job's length.
  double flops_per_token = 0;
  double tokens_per_s_per_device = 0;
  double flops_per_s_per_device = 0;  ///< Model FLOPs of a step over its time and devices.
  double peak_flops = 0;              ///< FLOP/s of a device in the job's precision, dense.
  double mfu = 0;                     ///< Ratio of `flops_per_s_per_device` to `peak_flops`.
  /// MFU without the FLOPs that attention has behind the causal mask.
  double unmasked_mfu = 0;
  /// FLOP/s, including the FLOPs that recomputation repeats, over the peak.
  double hfu = 0;
  cost::StepInterval interval;  ///< 80 % interval of the step time, in shares of it.
  /// Step times over frameworks; nullopt where the job names its framework.
  std::optional<FrameworkSpan> frameworks;
  std::vector<std::string> notes;  ///< Remarks on this plan, most important first.
  std::vector<std::string> basis;  ///< Remarks on the assumptions and sources of the figures.
  /// Operators of sizes outside of the measured ones; empty: all sizes were measured.
  std::vector<UnmeasuredSizes> unmeasured;

  [[nodiscard]] double step_time_s() const { return simulation.step_time_s; }
  /// Tokens a second over all devices, padding included.
  [[nodiscard]] double tokens_per_s() const {
    return step::step_tokens(planned.job, planned.plan).slots / step_time_s();
  }
  /// Returns all remarks: first those on the plan, then those on the basis of its figures.
  [[nodiscard]] std::vector<std::string> ranked_notes() const;
};

/// Predicts a plan: program, memory, price and simulated time. Throws `Error{kInput}` with the
/// broken rule when the plan is not legal. An `auto` schedule without an order gets one first
/// (`resolve_schedule_order`). `record` keeps the events of the timeline; fails with `kInput` where
/// they are more than four million.
Prediction predict(const plan::PlannedJob& planned, bool record = false);

/// Returns the seconds of each operator of each template when it runs alone: for a message, without
/// the slow-down by work beside it.
std::vector<std::vector<double>> operator_times(const Prediction& prediction);

/// Returns the output of `stepwright predict --json` (docs/formats.md, "Prediction").
nlohmann::ordered_json prediction_json(const Prediction& prediction);

/// Returns a breakdown as JSON: `compute_s`, `computation` {...}, `bubble_s`, `optimizer_s`,
/// `exposed` {...}.
nlohmann::ordered_json breakdown_json(const Breakdown& breakdown);

}  // namespace stepwright::simulate
