#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Returns MaxText's configuration as one mapping, from a YAML file with its `base_config` and
/// files that override it, a script that starts MaxText with a YAML file and NAME=VALUE words, or a
/// log with lines "Config param NAME: VALUE". Sets `extent` and `start` for a script.
YamlJsonDocument read_maxtext_mapping(Sources files, const UserFacts& given, JobRankCounts& extent,
                                      StartedTrainingProgram& start, ImportReport& report);

}  // namespace stepwright::framework_files
