#pragma once

#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cli {

/// Conditions from which a fit starts: constants that only whole training runs can show.
struct FitStartConditions {
  cost::TrainingConditions training;
  std::vector<plan::FrameworkExtraMemory> memory;
};

/// Loads a file of conditions from which a fit starts. Empty name: the built-in training
/// conditions, and no memory conditions.
FitStartConditions load_initial_fit_conditions(const std::string& file);

/// Writes fitted conditions (`yaml`) to a file, and logs how a job can refer to that file. Does
/// nothing if the file name is empty.
void write_fitted_conditions(const std::string& yaml, const std::string& file,
                             const Console& console);

}  // namespace stepwright::cli
