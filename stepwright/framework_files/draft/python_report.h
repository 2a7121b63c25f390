#pragma once

#include <span>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/launch_scripts/python/config.h"

namespace stepwright::framework_files {

/// Reports each value of a Python configuration that is not a literal, and so unknown, as not read,
/// unless `document` states it. `known` has settings by dotted path, `fields` by the last part of
/// the path. Fails with `kInput` if such a value in `fields` is a parallel degree or a batch size.
void report_unread_python_values(const launch_scripts::PythonConfig& config,
                                 const YamlJsonDocument& document,
                                 std::span<const KnownSetting> known, ImportReport& report,
                                 std::span<const KnownSetting> fields = {});

}  // namespace stepwright::framework_files
