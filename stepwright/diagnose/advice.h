#pragma once

#include <span>
#include <string_view>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Adds the usual causes of a fault, and changes that help, to a finding. `reason`: key of the
/// fault in `advice.yaml`, such as "mismatch.size"; that file names public sources.
void add_causes_and_remedies(FaultFinding& finding, std::string_view reason);

/// Adds the usual causes of several possible faults, and changes that help, to a finding.
/// `reasons`: keys of the faults in `advice.yaml`, likeliest first. The first cause of every fault
/// precedes the second causes, and so on.
void add_causes_and_remedies(FaultFinding& finding, std::span<const std::string_view> reasons);

}  // namespace stepwright::diagnose
