#pragma once

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

/// Reads a plan from MaxText's configuration, given as one mapping, into `draft`; the
/// configuration's model sizes override those of the draft's model.
PlanDraft read_maxtext_plan(const YamlJsonDocument& document, const UserFacts& given,
                            PlanDraft draft, ImportReport& report);

}  // namespace stepwright::framework_files
