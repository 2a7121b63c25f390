#pragma once

#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cli {

/// Conditions (fitted constants that only whole training runs can show) with which a fit starts.
struct FitStartConditions {
  cost::TrainingConditions training;
  std::vector<plan::FrameworkExtraMemory> memory;
};

/// Loads the conditions (fitted constants of training runs) with which a fit starts from a file.
/// Empty name: the built-in training conditions, and no memory conditions.
FitStartConditions load_initial_fit_conditions(const std::string& file);

/// Writes fitted conditions (constants of training runs, as the text `yaml`) to a file, and logs
/// how a job can refer to that file. Does nothing if the file name is empty.
void write_fitted_conditions(const std::string& yaml, const std::string& file,
                             const Console& console);

}  // namespace stepwright::cli
