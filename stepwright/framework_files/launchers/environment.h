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

/// Returns the environment variable that selects a plan's collective algorithm, NCCL_ALGO; empty if
/// NCCL chooses. Fails with `kUnsupported` if the plan has different algorithms for different
/// groups of ranks, because one variable holds for all groups.
std::vector<EnvironmentSetting> nccl_algorithm_settings(const plan::PlannedJob& planned);

/// Returns what is known about an environment variable of NCCL, CUDA, PyTorch or Transformer
/// Engine; null for any other variable.
const KnownSetting* find_known_environment_variable(std::string_view name);

/// Reads a command's environment variables into the plan: collective algorithm (NCCL_ALGO), host
/// threads, deterministic kernels, attention kernel (unless the arguments state it). Other known
/// variables of NCCL, CUDA, PyTorch and Transformer Engine are reported as not read.
void read_environment_settings(const StartedCommand& command, PartialPlan& settled,
                               const JobRankCounts& extent, ImportReport& report);

/// Returns all environment variables that a plan needs under its framework, NCCL's included.
std::vector<EnvironmentSetting> needed_environment_settings(const plan::PlannedJob& planned);

/// Returns shell code that sets environment variables, one line each: `export NAME=VALUE  # reason`
/// or `unset NAME  # reason`.
std::string environment_shell_lines(const std::vector<EnvironmentSetting>& settings);

}  // namespace stepwright::framework_files
