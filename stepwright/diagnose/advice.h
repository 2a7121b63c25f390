#pragma once

#include <span>
#include <string_view>

#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Adds the usual causes of a kind of trouble, and what to do, from `advice.yaml`, whose lines name
/// their public sources. `reason` is a key of it, as "mismatch.size".
void add_advice(Finding& finding, std::string_view reason);

/// Adds the causes and changes of several kinds of trouble, the likeliest first: the first cause of
/// each in front of the others.
void add_advice(Finding& finding, std::span<const std::string_view> reasons);

}  // namespace stepwright::diagnose
