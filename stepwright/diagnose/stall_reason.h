#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// Returns keys of `advice.yaml` for a call that does not end when no file tells which rank is the
/// reason, the likeliest first. They follow from work of the host before the time-out, the number
/// of the call in its group, its operation and its size. Empty: none of these suggests a reason.
std::vector<std::string_view> stall_reasons(const Evidence& evidence, const RankCall& call);

}  // namespace stepwright::diagnose
