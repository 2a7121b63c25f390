#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// A variable that the processes of a job must see, and why.
struct EnvironmentSetting {
  std::string name;
  std::string value;  ///< Empty: it must not be set.
  std::string reason;
};

/// The settings that a plan needs wherever it runs: NCCL's algorithms. Fails with `kUnsupported`
/// when schemes of more than one rank ask NCCL for different ones, which its environment cannot
/// tell apart.
std::vector<EnvironmentSetting> nccl_settings(const plan::PlannedJob& planned);

/// Finds a variable that libraries below a framework heed; null for any other.
const KnownSetting* known_variable(std::string_view name);

/// Reads the variables that a command sees, once the arguments are read: of those which NCCL, CUDA,
/// PyTorch and Transformer Engine heed, the choice of collectives and, unless the arguments say
/// it, of the kernel of attention; the others are listed as not read.
void read_environment(const StartedCommand& command, Settled& settled, const JobExtent& extent,
                      ImportReport& report);

/// All that a plan's job needs set under its framework, by that framework's file.
std::vector<EnvironmentSetting> needed_settings(const plan::PlannedJob& planned);

/// One line of shell for each: `export NAME=VALUE  # reason`, `unset NAME  # reason`.
std::string shell_lines(const std::vector<EnvironmentSetting>& settings);

}  // namespace stepwright::framework_files
