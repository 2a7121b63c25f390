#pragma once

#include <string>

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::cli {

/// Returns the text of `stepwright import`: settings that were read, assumed or not read, one line
/// each with its place in the files. Framework defaults are listed together, without those that are
/// 1 or off.
std::string import_report_text(const framework_files::ImportReport& report);

/// Returns text about settings that an import did not read, and what a prediction therefore leaves
/// out. `names_harmless`: true to name settings that change no figure; false: if there are many of
/// these, only their number is given.
std::string unread_settings_text(const framework_files::ImportReport& report, bool names_harmless);

}  // namespace stepwright::cli
