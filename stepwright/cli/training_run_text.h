#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"

namespace stepwright::cli {

/// Formats days, GPU-hours or money: three significant digits below a hundred, otherwise a whole
/// number.
std::string amount(double value);

/// Formats a number of tokens: "15T tokens", "300B tokens".
std::string tokens_text(double tokens);

/// Returns the text that `tune --tokens` prints below its answer: days, GPU-hours and cost of the
/// whole run, for the best plan and the alternatives.
std::string run_cost_text(const tune::TuneResult& result, const tune::TrainingRun& run);

/// Returns a sentence about a whole run: "1T tokens take 158 days and 242,734 GPU-hours, without
/// ...", with the cost if a price is known.
std::string run_cost_sentence(const plan::Job& job, double step_time_s, std::int64_t devices_idle,
                              const tune::TrainingRun& run);

/// Returns the headers for `run_cells`: "days", "GPU-hours" and, with a price, "cost".
std::vector<std::string> run_cost_headers(const tune::TrainingRun& run);
std::vector<std::string> run_cells(const plan::Job& job, double step_time_s,
                                   std::int64_t devices_idle, const tune::TrainingRun& run);

}  // namespace stepwright::cli
