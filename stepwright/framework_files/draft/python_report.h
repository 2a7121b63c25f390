#pragma once

#include <span>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// Lists values of a Python file that are no literals, unless `document` has another in their
/// place. `fields`: what is known under the last part of a name. Fails with `kInput` where one of
/// these is a degree or a batch, whose default would make another plan.
void list_python_unread(const launch_scripts::PythonConfig& config, const Document& document,
                        std::span<const KnownSetting> known, ImportReport& report,
                        std::span<const KnownSetting> fields = {});

}  // namespace stepwright::framework_files
