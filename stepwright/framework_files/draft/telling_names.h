#pragma once

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// Marks settings that no table of a program has, and whose names are like those that change the
/// model or its adapters (`recognition/telling_names`), as ones that matter.
void mark_telling_names(ImportReport& report);

}  // namespace stepwright::framework_files
