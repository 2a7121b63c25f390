#pragma once

#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Finds the communication calls of a job that do not end, and the ranks that cause this.
///
/// Each group of ranks is stuck in its first call that differs between ranks, that some rank never
/// made, or that did not end. A rank missing from that call may itself wait in a call of another
/// group; the first group's stall is then a consequence of the other's. The findings are the
/// remaining calls, whose missing ranks wait nowhere, and cycles of groups that wait for each
/// other.
std::vector<Finding> hang_findings(Evidence evidence);

}  // namespace stepwright::diagnose
