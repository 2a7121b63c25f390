#pragma once

#include <filesystem>

#include "stepwright/core/document.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads the mapping of a job in the words of `version`, or of the version that the mapping itself
/// names. `unsaid`: the framework if the job names none.
Job read_job_mapping(Node node, const std::filesystem::path& directory, FileVersion version,
                     const Framework& unsaid = {});

/// Reads the dimensions of a job: `search` and the keys of a plan, each a value or a list.
Space read_space(Node job, FileVersion version, Notes& notes);

}  // namespace stepwright::plan
