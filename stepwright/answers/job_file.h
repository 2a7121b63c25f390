#pragma once

#include <cstdint>

#include "stepwright/answers/given_file.h"

namespace stepwright::answers {

/// The role of a file that a user has about a job: plan, description of the job, launch file, or
/// output of the job.
enum class JobFileRole : std::uint8_t {
  kPlan,
  kJob,  ///< A job file: model, data and cluster, without a plan.
  /// A launch file, which `check` reads: a script, a configuration or a record of a capture.
  kLaunch,
  kLeft,  ///< An output of the job: a log, dump, trace or memory snapshot.
};

/// Recognises the role of a file by the beginning of its content. A YAML or TOML configuration must
/// have a matching file name or contain a framework's typical keys, because a few lines of a log
/// can also be read as YAML. Files that cannot be read, and pipes (which can be read only once),
/// count as outputs of the job.
JobFileRole recognise_user_file_role(const UserFile& file);

}  // namespace stepwright::answers
