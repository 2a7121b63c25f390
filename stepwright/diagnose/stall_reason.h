#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/diagnose/evidence.h"

namespace stepwright::diagnose {

/// Returns keys of `advice.yaml` for a call that does not end although no file shows a guilty rank,
/// likeliest first. They follow from work of the host before the time-out and from the call's
/// number, operation and size. Empty: no reason suggests itself.
std::vector<std::string_view> stalled_call_advice_keys(const JobFailureEvidence& evidence,
                                                       const RankCommunicationCall& call);

}  // namespace stepwright::diagnose
