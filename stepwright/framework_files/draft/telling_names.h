#pragma once

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// Marks as mattering those unread settings that no table of the program knows, but whose names
/// resemble settings that change the model or its adapters (`recognition/telling_names`).
void mark_telling_names(ImportReport& report);

}  // namespace stepwright::framework_files
