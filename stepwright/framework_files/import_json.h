#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/framework_files/launch_file.h"

namespace stepwright::framework_files {

/// `plan`, `read`, `assumed`, `not_read` and `notes`, as docs/formats.md says.
nlohmann::ordered_json import_json(const ImportedPlan& imported);

}  // namespace stepwright::framework_files
