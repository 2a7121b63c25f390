#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {

/// Returns an imported plan as JSON with the keys `plan`, `read`, `assumed`, `not_read` and `notes`
/// (docs/formats.md).
nlohmann::ordered_json imported_plan_json(const ImportedPlan& imported);

}  // namespace stepwright::framework_files
