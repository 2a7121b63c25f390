#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::explore {

/// Recognises and reads what a person brings: `files` [{name, text}] of any kind that the commands
/// read, and `given`, the facts that a person states beside them: `model` and `cluster` (a word or
/// a mapping as in a job), `name` (of the model of a file), `nodes`, `devices`, `batch` (a
/// mapping), `settings` [NAME=VALUE], `source` (whose files they are), `command`, `function`. What
/// a model or a cluster leaves open is that of `beside`, the job in sight.
///
/// The answer: `kind` (plan, job, model, cluster, launch), `about`, a sentence on the files; `plan`
/// or `job`, which `predict` takes; `model`, as `describe_model`; `read`, `assumed`, `not_read` and
/// `notes` as in `import --json`; `refused` if the plan of a launch file is not legal. Fails with
/// the readers' messages.
nlohmann::ordered_json own_job_json(const nlohmann::ordered_json& question);

/// Reads the launch files or the plan file of such a question, or without files the plan in its
/// `text`, as `check` takes them. Fails where the files say no plan.
framework_files::ImportedPlan imported_of(const nlohmann::ordered_json& question);

}  // namespace stepwright::explore
