#pragma once

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a configuration of MaxText from one mapping; its values override the draft's model.
Draft read_maxtext_config(const Document& document, const UserFacts& given, Draft draft,
                          ImportReport& report);

}  // namespace stepwright::framework_files
