#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// An environment variable that a job's processes need, and the reason.
struct EnvironmentSetting {
  std::string name;
  std::string value;  ///< Value of the variable; empty: it must be unset.
  std::string reason;
};

/// Returns the variables that a plan needs under every framework: NCCL's algorithms. Fails with
/// `kUnsupported` if groups of several ranks need different algorithms, because NCCL's environment
/// cannot distinguish groups.
std::vector<EnvironmentSetting> nccl_settings(const plan::PlannedJob& planned);

/// Returns the row of a variable that libraries such as NCCL read; null for any other variable.
const KnownSetting* known_variable(std::string_view name);

/// Reads the variables that a command sees, after its arguments. Variables of NCCL, CUDA, PyTorch
/// and Transformer Engine choose collective algorithms and, unless the arguments do, the attention
/// kernel; their other variables are listed as not read.
void read_environment(const StartedCommand& command, PartialPlan& settled, const JobExtent& extent,
                      ImportReport& report);

/// Returns all variables that a plan's job needs under its framework.
std::vector<EnvironmentSetting> needed_settings(const plan::PlannedJob& planned);

/// Returns one shell line for each setting: `export NAME=VALUE  # reason`, `unset NAME  # reason`.
std::string shell_lines(const std::vector<EnvironmentSetting>& settings);

}  // namespace stepwright::framework_files
