#pragma once

#include <string>

#include "stepwright/framework_files/draft/import_report.h"

namespace stepwright::cli {

/// Text of what was read, assumed and not read: one line each, with the place in the file; defaults
/// of the framework together, without those that are 1 or off.
std::string import_text(const framework_files::ImportReport& report);

/// The last part of it: what was not read, with what a prediction leaves out; what changes no
/// figure by name, or only how many where that is long.
std::string unread_text(const framework_files::ImportReport& report, bool names_harmless);

}  // namespace stepwright::cli
