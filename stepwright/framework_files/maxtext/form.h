#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// The configuration of MaxText that files say, as one mapping: a YAML file over those that it
/// names
/// (`base_config`), and further YAML files over it; a script that starts MaxText's train with a
/// file and words NAME=VALUE, which stand over YAML files that are given behind it; or the lines
/// "Config param NAME: VALUE" that it logs.
Document read_maxtext_form(Sources files, const Given& given, JobExtent& extent,
                           ProgramStart& start, ImportReport& report);

}  // namespace stepwright::framework_files
