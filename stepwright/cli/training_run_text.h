#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/training_run.h"
#include "stepwright/tune/tune.h"

namespace stepwright {

/// A number of days, GPU-hours or money: three digits below a hundred, else whole ones.
std::string amount(double value);

/// A count of tokens as the field writes it: "15T tokens", "300B tokens".
std::string tokens_text(double tokens);

/// The text that `tune --tokens` prints below its answer: days, GPU-hours and cost of the whole run
/// with the best plan and with the alternatives.
std::string run_text(const TuneResult& result, const TrainingRun& run);

/// "1T tokens take 158 days and 242,734 GPU-hours, without ...", with a price also what they cost.
std::string run_words(const Job& job, double step_time_s, std::int64_t devices_idle,
                      const TrainingRun& run);

/// "days", "GPU-hours" and, with a price, "cost": headers of `run_cells`.
std::vector<std::string> run_headers(const TrainingRun& run);
std::vector<std::string> run_cells(const Job& job, double step_time_s, std::int64_t devices_idle,
                                   const TrainingRun& run);

}  // namespace stepwright
