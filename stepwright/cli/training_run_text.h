#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"

namespace stepwright::cli {

/// A number of days, GPU-hours or money: three digits below a hundred, else whole ones.
std::string amount(double value);

/// A count of tokens as the field writes it: "15T tokens", "300B tokens".
std::string tokens_text(double tokens);

/// The text that `tune --tokens` prints below its answer: days, GPU-hours and cost of the whole run
/// with the best plan and with the alternatives.
std::string run_text(const tune::TuneResult& result, const tune::TrainingRun& run);

/// "1T tokens take 158 days and 242,734 GPU-hours, without ...", with a price also what they cost.
std::string run_words(const plan::Job& job, double step_time_s, std::int64_t devices_idle,
                      const tune::TrainingRun& run);

/// "days", "GPU-hours" and, with a price, "cost": headers of `run_cells`.
std::vector<std::string> run_headers(const tune::TrainingRun& run);
std::vector<std::string> run_cells(const plan::Job& job, double step_time_s,
                                   std::int64_t devices_idle, const tune::TrainingRun& run);

}  // namespace stepwright::cli
