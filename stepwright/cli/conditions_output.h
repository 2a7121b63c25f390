#pragma once

#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cli {

/// The training conditions from which a fit starts.
struct StartConditions {
  cost::TrainingConditions training;
  std::vector<plan::MemoryConditions> memory;
};

/// Loads a file of conditions. Empty name: the built-in training conditions, and no memory
/// conditions.
StartConditions start_conditions(const std::string& file);

/// Writes fitted conditions (`yaml`) to a file, and logs how a job refers to that file. Empty name:
/// does nothing.
void write_conditions(const std::string& yaml, const std::string& file, const Console& console);

}  // namespace stepwright::cli
