#pragma once

#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cost/training_conditions.h"
#include "stepwright/plan/files/memory_conditions.h"

namespace stepwright::cli {

/// The conditions with which a fit begins.
struct StartConditions {
  cost::TrainingConditions training;
  std::vector<plan::MemoryConditions> memory;
};

/// Loads a file of conditions; empty name: the built-in ones, and none of memory.
StartConditions start_conditions(const std::string& file);

/// Writes fitted conditions, a YAML text, and logs how a job names their file. Empty name: does
/// nothing.
void write_conditions(const std::string& yaml, const std::string& file, const Console& console);

}  // namespace stepwright::cli
