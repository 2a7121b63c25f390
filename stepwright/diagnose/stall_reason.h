#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// Reasons (keys of `advice.yaml`) why a call does not end of which no file says which rank
/// differs, the likeliest first: from work of the host that the log shows in front of the time-out,
/// the number of the call in its group, its operation and its size. Empty: nothing of this says
/// more.
std::vector<std::string_view> stall_reasons(const Evidence& evidence, const RankCall& call);

}  // namespace stepwright::diagnose
