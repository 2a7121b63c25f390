#pragma once

#include <vector>

#include "stepwright/diagnose/evidence.h"
#include "stepwright/diagnose/finding.h"

namespace stepwright::diagnose {

/// Says which calls of a job do not end, and which ranks are the reason.
///
/// Each group of ranks is stuck in the first of its calls that differs between ranks, that some
/// rank never made, or that did not end. A rank that is missing there may itself wait in a call of
/// another group: such a group only follows from the other one. What is left are calls whose
/// missing ranks wait nowhere, which are findings, and circles of groups that wait for each other.
std::vector<Finding> hang_findings(Evidence evidence);

}  // namespace stepwright::diagnose
