#pragma once

#include <filesystem>

#include "stepwright/core/document.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads a job from its mapping in a file of version `version` (or of the version that the mapping
/// states). Paths are relative to `directory`. `unsaid`: framework to use if the job names none.
Job read_job_mapping(DocumentNode node, const std::filesystem::path& directory,
                     PlanFileVersion version, const TrainingFramework& unsaid = {});

/// Reads the values that a job lets the tuner choose from: `search`, and plan keys in the job, each
/// a value or a list.
TunerSearchSpace read_search_space(DocumentNode job, PlanFileVersion version, Notes& notes);

}  // namespace stepwright::plan
