#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"

namespace stepwright::cli {

/// Returns days, GPU-hours or money as text: three significant digits below a hundred, otherwise a
/// whole number.
std::string cost_amount_text(double value);

/// Returns a number of tokens as text: "15T tokens", "300B tokens".
std::string token_count_text(double tokens);

/// Returns the section of `stepwright tune --tokens` about the whole training run: days, GPU-hours
/// and cost with the best plan and the alternatives.
std::string training_run_cost_text(const tune::TuneResult& result,
                                   const tune::TrainingLengthAndPrice& run);

/// Returns a sentence about the whole training run: "1T tokens take 158 days and 242,734 GPU-hours,
/// without ...", with the cost if a price is known. `step_time_s`: seconds of a step;
/// `devices_idle`: paid devices that the plan does not use.
std::string training_run_cost_sentence(const plan::Job& job, double step_time_s,
                                       std::int64_t devices_idle,
                                       const tune::TrainingLengthAndPrice& run);

/// Returns the headers of table columns about the whole training run: "days", "GPU-hours" and, with
/// a price, "cost"; `run_cells` returns a plan's cells in these columns.
std::vector<std::string> training_run_cost_headers(const tune::TrainingLengthAndPrice& run);
std::vector<std::string> run_cells(const plan::Job& job, double step_time_s,
                                   std::int64_t devices_idle,
                                   const tune::TrainingLengthAndPrice& run);

}  // namespace stepwright::cli
