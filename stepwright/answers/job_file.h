#pragma once

#include <cstdint>

#include "stepwright/answers/given_file.h"

namespace stepwright::answers {

/// The role of a file among the files that a user has about a job.
enum class JobFileRole : std::uint8_t {
  kPlan,
  kJob,  ///< A job: model, data and cluster, without a plan.
  /// A launch script, a configuration or a record of a capture: files that `check` reads.
  kLaunch,
  kLeft,  ///< Files that the job left behind: logs, dumps, traces, snapshots.
};

/// Recognises the role of a file by the beginning of its content. A YAML or TOML configuration must
/// have a matching file name or contain a framework's typical keys, because a few lines of a log
/// can also be read as YAML. Files that cannot be read, and pipes (which can be read only once),
/// count as left by the job.
JobFileRole job_file_role(const UserFile& file);

}  // namespace stepwright::answers
