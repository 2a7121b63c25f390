#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::explore {

/// Recognises and reads the user's own files: `files` [{name, text}] of any kind that the commands
/// read, and `given`, facts that the user states beside them: `model` and `cluster` (a word or a
/// mapping as in a job), `name` (of the model of a file), `nodes`, `devices`, `batch` (a mapping),
/// `settings` [NAME=VALUE], `source` (the framework of the files), `command`, `function`. Values of
/// a job that a model or cluster file lacks are taken from `beside`, the job that the page shows.
///
/// The answer: `kind` (plan, job, model, cluster, launch), `about`, a sentence on the files; `plan`
/// or `job`, which `predict` accepts; `model`, as `describe_model`; `read`, `assumed`, `not_read`
/// and `notes` as in `import --json`; `refused` if the plan of a launch file is not legal. Fails
/// with the readers' messages.
nlohmann::ordered_json own_job_json(const nlohmann::ordered_json& question);

/// Reads the launch files or the plan file of a question for `check`; without files, the plan in
/// its `text`. Fails if the files contain no plan.
framework_files::ImportedPlan import_question_files(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
