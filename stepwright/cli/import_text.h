#pragma once

#include <string>

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::cli {

/// Returns text about imported files: what was read, assumed and not read, one line each with the
/// place in its file. Framework defaults are listed together, without those that are 1 or off.
std::string import_text(const framework_files::ImportReport& report);

/// Returns the last section of `import_text`: settings that were not read and what a prediction
/// therefore omits. Settings that change no figure are listed by name if `names_harmless`;
/// otherwise a long list is replaced by its length.
std::string unread_settings_text(const framework_files::ImportReport& report, bool names_harmless);

}  // namespace stepwright::cli
