#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// True if a file's key `stepwright` names this kind ("job"), in any version.
bool is_stepwright_file_of_kind(const YamlJsonDocument& document, std::string_view kind);

/// Reads a job file (`stepwright: job/2`, or the older `job/1`). Relative paths in it start from
/// `directory`, the file's folder.
Job read_job(const YamlJsonDocument& document, const std::filesystem::path& directory);
Job load_job(const std::filesystem::path& path);

/// Reads a plan file with its job (`stepwright: plan/2`, or the older `plan/1`). Legality of the
/// plan is not checked. Fails with `kUnsupported` for values of the schema that no code covers.
/// `unsaid`: framework to use if the job names none; its defaults fill what the file leaves out.
PlannedJob read_plan(const YamlJsonDocument& document, const std::filesystem::path& directory,
                     const TrainingFramework& unsaid = {});
PlannedJob load_plan(const std::filesystem::path& path);

/// Returns a plan with its job as the text of a YAML file that needs no other files; `read_plan`
/// reads it back as an equal plan. `expanded`: built-in models and clusters are written in full
/// instead of by name, as `--set` needs.
std::string plan_yaml(const PlannedJob& planned, bool expanded = false);

/// Returns the content of a plan file as JSON, for `--json` outputs.
nlohmann::ordered_json plan_json(const PlannedJob& planned);

/// Returns a plan with one field changed by `field=value` or `field=2x`. The field is a dotted path
/// of the plan file (`micro_batch`, `parallel.tensor`, `job.batch.length`; `job.` may be left out),
/// or of its expanded cluster or model (`cluster.nic=2x`, `cluster.device.memory=1.5x`,
/// `model.layers=40`). `cluster.profile` selects another cluster with as many nodes. Fails with
/// `kInput` for unknown fields and for fields without effect. `option`: the option's name in
/// messages.
PlannedJob plan_with_field(const PlannedJob& planned, const std::string& assignment,
                           std::string_view option = "--set");

/// Returns a plan with several fields changed, in order. Fails with `kInput` for unknown fields,
/// for fields without effect, and if one change makes an earlier one useless.
PlannedJob plan_with_fields(PlannedJob planned, std::span<const std::string> assignments);

}  // namespace stepwright::plan
