#pragma once

#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Finds the communication calls in which a job hangs, and the ranks that cause this.
///
/// Each process group is stuck in its first call that differs between ranks, that some rank never
/// made, or that did not end. If a rank missing there waits in a call of another group, this stall
/// is only a consequence of the other. The findings are the remaining calls, and cycles of groups
/// that wait for each other.
std::vector<FaultFinding> communication_hang_findings(JobFailureEvidence evidence);

}  // namespace stepwright::diagnose
