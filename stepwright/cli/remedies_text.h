#pragma once

#include <string>
#include <vector>

#include "stepwright/check/remedies.h"

namespace stepwright::cli {

/// Returns a table with heading of the changes that would let a job fit in memory; empty: there are
/// no such changes.
std::string memory_remedies_table(const std::vector<check::MemoryRemedyWithFlags>& remedies);

}  // namespace stepwright::cli
