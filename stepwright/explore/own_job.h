#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::explore {

/// Reads the user's own files for the explorer's page. Input: `files` [{name, text}] of any kind
/// that the commands read; `given`, what the user states in addition (`model`, `cluster`, `name`,
/// `nodes`, `devices`, `batch`, `settings`, `source`, `command`, `function`); `beside`, the job
/// that the page shows, whose values fill gaps. Returns `kind` (plan, job, model, cluster, launch),
/// `about` (a sentence), `plan` or `job`, `model`, `read`, `assumed`, `not_read` and `notes` as in
/// `import --json`, and `refused` if the plan is not legal. Fails with `kInput` for files that
/// cannot be read.
nlohmann::ordered_json job_from_user_files_json(const nlohmann::ordered_json& question);

/// Reads the plan that `check` should check: from the launch files or plan file of a question or,
/// without files, from its `text`. Fails if there is no plan.
framework_files::ImportedPlan import_explorer_plan(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
