#pragma once

#include <string>

#include "stepwright/snapshot/compare_snapshots.h"

namespace stepwright::cli {

/// Snapshots beside a plan for people: a row for each rank, and of the fullest one what the plan
/// does not explain and what the run does not have.
std::string snapshot_text(const snapshot::SnapshotComparison& comparison);

}  // namespace stepwright::cli
