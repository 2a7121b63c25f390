#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Whether a file says that it is of this kind ("job"), in whatever version.
bool is_file_of(const Document& document, std::string_view kind);

/// Reads a job (`stepwright: job/2`, or `job/1` as what it meant). Relative paths inside are
/// relative to the file.
Job read_job(const Document& document, const std::filesystem::path& directory);
Job load_job(const std::filesystem::path& path);

/// Reads a plan (`stepwright: plan/2`, or `plan/1` as what it meant, with its job). What the schema
/// knows but nothing covers yet is `kUnsupported`. Legality is not checked here. Where the job
/// names no framework it is of `unsaid`, whose defaults stand for all that the file does not say.
PlannedJob read_plan(const Document& document, const std::filesystem::path& directory,
                     const Framework& unsaid = {});
PlannedJob load_plan(const std::filesystem::path& path);

/// The plan file as YAML that stands alone (model and cluster by name where built in, else inline);
/// `read_plan` gives back an equal plan. With `expanded`, model and cluster are written out in
/// full: the form on which `--set` works.
std::string plan_yaml(const PlannedJob& planned, bool expanded = false);

/// Returns the plan file's content as JSON, for `--json` outputs.
nlohmann::ordered_json plan_json(const PlannedJob& planned);

/// Applies `field=value` or `field=2x`. The field is a dotted path of the plan file (`micro_batch`,
/// `parallel.tensor`, `job.batch.length`); `job.` may be left out, and `cluster.` / `model.` reach
/// the expanded mappings (`cluster.nic=2x`, `cluster.device.memory=1.5x`, `model.layers=40`);
/// `cluster.profile` takes another cluster of as many nodes. Fails with `kInput` for an unknown
/// field, naming the nearest, and for one on which nothing that is said about a plan depends.
/// `option` is what messages call it.
PlannedJob with_field(const PlannedJob& planned, const std::string& assignment,
                      std::string_view option = "--set");

/// Applies several in order. Fails with `kInput`, too, when one leaves nothing of an earlier one.
PlannedJob with_fields(PlannedJob planned, std::span<const std::string> assignments);

}  // namespace stepwright::plan
