#pragma once

#include <span>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// Reports the values of a Python configuration that are not literals, and so not known, as not
/// read, unless `document` states them. `fields` has settings known by the last part of their name.
/// Fails with `kInput` if such a value is a parallel degree or a batch size.
void report_unread_python_values(const launch_scripts::PythonConfig& config,
                                 const YamlJsonDocument& document,
                                 std::span<const KnownSetting> known, ImportReport& report,
                                 std::span<const KnownSetting> fields = {});

}  // namespace stepwright::framework_files
