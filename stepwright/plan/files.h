#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// True if a file names this kind ("job") in its key `stepwright`, in any version.
bool is_file_of(const Document& document, std::string_view kind);

/// Reads a job (`stepwright: job/2`, or `job/1` with its old meaning). Relative paths in it are
/// relative to the file.
Job read_job(const Document& document, const std::filesystem::path& directory);
Job load_job(const std::filesystem::path& path);

/// Reads a plan with its job (`stepwright: plan/2`, or `plan/1` with its old meaning). A value that
/// the schema knows but no code covers fails with `kUnsupported`. Legality is not checked here. If
/// the job names no framework, it gets `unsaid`, whose defaults fill everything that the file
/// leaves out.
PlannedJob read_plan(const Document& document, const std::filesystem::path& directory,
                     const Framework& unsaid = {});
PlannedJob load_plan(const std::filesystem::path& path);

/// Returns the plan file as self-contained YAML (model and cluster by name if built in, else
/// inline); `read_plan` reads it back as an equal plan. With `expanded`, model and cluster are
/// written in full, the form on which `--set` works.
std::string plan_yaml(const PlannedJob& planned, bool expanded = false);

/// Returns the plan file's content as JSON, for `--json` outputs.
nlohmann::ordered_json plan_json(const PlannedJob& planned);

/// Applies an assignment `field=value` or `field=2x` to a plan. The field is a dotted path of the
/// plan file (`micro_batch`, `parallel.tensor`, `job.batch.length`). `job.` may be left out, and
/// `cluster.` / `model.` reach the expanded mappings (`cluster.nic=2x`,
/// `cluster.device.memory=1.5x`, `model.layers=40`). `cluster.profile` selects another cluster with
/// as many nodes. Fails with `kInput` for an unknown field, naming the nearest, and for a field
/// that no result of a plan depends on. `option` is the option's name in messages.
PlannedJob with_field(const PlannedJob& planned, const std::string& assignment,
                      std::string_view option = "--set");

/// Applies several assignments in order. Fails with `kInput` also if one assignment completely
/// overrides an earlier one.
PlannedJob with_fields(PlannedJob planned, std::span<const std::string> assignments);

}  // namespace stepwright::plan
