#pragma once

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a configuration of MaxText whose words stand in a mapping, over the model that the draft
/// has.
Draft read_maxtext_config(const Document& document, const Given& given, Draft draft,
                          ImportReport& report);

}  // namespace stepwright::framework_files
