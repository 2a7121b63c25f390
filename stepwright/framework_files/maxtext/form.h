#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Returns the configuration of MaxText in files as one mapping. The files are a YAML file with
/// those that it names (`base_config`) and further YAML files, which override it; or a script that
/// starts MaxText's train with a file and NAME=VALUE words, which override the file; or the lines
/// "Config param NAME: VALUE" of a log.
Document read_maxtext_form(Sources files, const UserFacts& given, JobExtent& extent,
                           ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
