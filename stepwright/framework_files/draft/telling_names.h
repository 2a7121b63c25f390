#pragma once

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::framework_files {

/// Marks unknown settings as important if their names suggest an effect on model, adapters or
/// degrees, such as `*lora*` or `*num-layers*` (table `recognition/telling_names`).
void mark_suspicious_settings(ImportReport& report);

}  // namespace stepwright::framework_files
