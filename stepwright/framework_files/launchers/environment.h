#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright {

/// A variable that the processes of a job must see, and why.
struct EnvironmentSetting {
  std::string name;
  std::string value;  ///< Empty: it must not be set.
  std::string reason;
};

/// The settings that a plan needs wherever it runs: NCCL's algorithms. Fails with `kUnsupported`
/// when schemes of more than one rank ask NCCL for different ones, which its environment cannot
/// tell apart.
std::vector<EnvironmentSetting> nccl_settings(const PlannedJob& planned);

/// The algorithms of a plan whose NCCL_ALGO has this value; nothing for one that no plan chooses.
std::optional<Collectives> collectives_of(std::string_view nccl_algo, const Plan& plan);

/// All that a plan's job needs set under its framework, by that framework's file.
std::vector<EnvironmentSetting> needed_settings(const PlannedJob& planned);

/// One line of shell for each: `export NAME=VALUE  # reason`, `unset NAME  # reason`.
std::string shell_lines(const std::vector<EnvironmentSetting>& settings);

}  // namespace stepwright
