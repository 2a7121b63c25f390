#pragma once

#include <span>
#include <string_view>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Adds the usual causes of a fault, and the changes that help, to a finding. They are in
/// `advice.yaml`, whose entries name their public sources. `reason`: a key of that file, such as
/// "mismatch.size".
void add_advice(Finding& finding, std::string_view reason);

/// Adds the causes and changes of several faults to a finding. `reasons`: keys of `advice.yaml`,
/// the likeliest first. The first cause of every reason precedes the second causes, and so on.
void add_advice(Finding& finding, std::span<const std::string_view> reasons);

}  // namespace stepwright::diagnose
