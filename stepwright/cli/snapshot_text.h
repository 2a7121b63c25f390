#pragma once

#include <string>

#include "stepwright/snapshot/compare_snapshots.h"

namespace stepwright::cli {

/// Returns the comparison of memory snapshots with a plan's prediction: a row for each rank; for
/// the rank with the most memory, also what only the snapshot or only the prediction contains.
std::string snapshot_comparison_text(const snapshot::SnapshotComparison& comparison);

}  // namespace stepwright::cli
