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

/// Operators whose price was fitted on other sizes, all in the same way.
struct UnmeasuredSizes {
  std::vector<std::string> operators;  ///< Names of operators, as "mlp.fc1".
  std::string how;                     ///< "columns 28,672, measured 2,048 to 8,192".
};

/// Everything that is said about one plan. Rates: model FLOPs count attention without halving it
/// for the causal mask; the peak is that of the job's precision.
struct Prediction {
  plan::PlannedJob planned;
  step::StepProgram program;
  Simulation simulation;
  memory::MemoryReport memory;
  Price price;
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;
  double flops_per_token = 0;  ///< Forward and backward at the job's length.
  double tokens_per_s_per_device = 0;
  double flops_per_s_per_device = 0;  ///< Model FLOPs over time and devices.
  double peak_flops = 0;              ///< FLOP/s of a device in the job's precision, dense.
  double mfu = 0;                     ///< The ratio of the two above.
  /// MFU without what attention has behind the causal mask.
  double unmasked_mfu = 0;
  /// FLOP/s with the FLOPs that recomputation repeats, over the peak.
  double hfu = 0;
  cost::StepInterval interval;              ///< 80 %, in shares of the step.
  std::optional<FrameworkSpan> frameworks;  ///< Steps by framework, where the job names none.
  std::vector<std::string> notes;           ///< Remarks on this plan, those that change most first.
  std::vector<std::string> basis;           ///< Remarks on what the figures assume and rest on.
  std::vector<UnmeasuredSizes> unmeasured;  ///< Empty: all sizes were measured.

  [[nodiscard]] double step_time_s() const { return simulation.step_time_s; }
  /// Tokens of all devices a second, padding included.
  [[nodiscard]] double tokens_per_s() const {
    return step::step_tokens(planned.job, planned.plan).slots / step_time_s();
  }
  /// All remarks, ranked: those on the plan, then those on the basis of its figures.
  [[nodiscard]] std::vector<std::string> ranked_notes() const;
};

/// Predicts a plan: program, memory, price and simulated time. Throws `Error{kInput}` with the rule
/// when the plan is not legal. An `auto` schedule without an order is settled first (`with_order`).
/// `record` keeps the events of the timeline; fails with `kInput` where they are more than four
/// million.
Prediction predict(const plan::PlannedJob& planned, bool record = false);

/// Seconds of each operator of each template, alone: of a message without what runs beside it.
std::vector<std::vector<double>> operator_times(const Prediction& prediction);

/// The answer of `stepwright predict --json` (docs/formats.md, "Prediction").
nlohmann::ordered_json prediction_json(const Prediction& prediction);

/// A breakdown as JSON: `compute_s`, `computation` {...}, `bubble_s`, `optimizer_s`, `exposed`
/// {...}.
nlohmann::ordered_json breakdown_json(const Breakdown& breakdown);

}  // namespace stepwright::simulate
