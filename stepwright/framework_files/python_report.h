#pragma once

#include <span>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/import_report.h"
#include "stepwright/framework_files/syntax/python_config.h"

namespace stepwright {

/// Lists values of a Python file that are no literals, unless `document` has another in their
/// place.
void list_python_unread(const PythonConfig& config, const Document& document,
                        std::span<const KnownSetting> known, ImportReport& report);

}  // namespace stepwright
