#include "stepwright/cli/conditions_output.h"

#include <fmt/format.h>

#include "stepwright/cli/logger.h"
#include "stepwright/core/output_file.h"

namespace stepwright::cli {

FitStartConditions load_initial_fit_conditions(const std::string& file) {
  if (file.empty()) return {.training = cost::built_in_training_conditions(), .memory = {}};
  return {.training = cost::load_training_conditions(file),
          .memory = plan::load_memory_conditions(file)};
}

void write_fitted_conditions(const std::string& yaml, const std::string& file,
                             const Console& console) {
  if (file.empty()) return;
  write_file(file, [&](std::ostream& out) { out << yaml; });
  console.log.info(
      fmt::format("wrote the conditions to {}; a job names them as `conditions: {}`", file, file));
}

}  // namespace stepwright::cli
