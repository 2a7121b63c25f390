#pragma once

#include <span>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// Lists the values of a Python file that are not literals, unless `document` has a value in their
/// place. `fields` are settings known by the last part of their name. Fails with `kInput` if one of
/// those values is a degree or a batch, whose default would give another plan.
void list_python_unread(const launch_scripts::PythonConfig& config, const Document& document,
                        std::span<const KnownSetting> known, ImportReport& report,
                        std::span<const KnownSetting> fields = {});

}  // namespace stepwright::framework_files
