#pragma once

#include <string>

#include "stepwright/snapshot/compare_snapshots.h"

namespace stepwright::cli {

/// Returns the comparison of memory snapshots with a plan, for people: a row for each rank; for the
/// rank with the most memory, also what only the snapshot or only the plan contains.
std::string snapshot_text(const snapshot::SnapshotComparison& comparison);

}  // namespace stepwright::cli
