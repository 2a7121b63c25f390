#pragma once

#include <cstdint>

#include "stepwright/answers/given_file.h"

namespace stepwright::answers {

/// The part of a file among those that a person has of a job.
enum class JobFile : std::uint8_t {
  kPlan,
  kJob,     ///< A job: what is trained on what; no plan.
  kLaunch,  ///< A script, a configuration or a record of a capture: what `check` reads.
  kLeft,    ///< Files that the job left behind: logs, dumps, traces, snapshots.
};

/// Says what a file is by the beginning of its content. A configuration in YAML or TOML must be
/// named as one, or hold a mark of a framework: few lines of a log read as YAML, too. Files that
/// cannot be read, and pipes, which can be read once, count as left by the job.
JobFile job_file_of(const GivenFile& file);

}  // namespace stepwright::answers
