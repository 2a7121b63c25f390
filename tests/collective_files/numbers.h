#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/collective/generate.h"

namespace stepwright::collective_files {

/// Per rank, one number for each piece.
using Pieces = std::vector<std::vector<std::int64_t>>;

/// Returns inputs for which no two different sums are equal by coincidence.
Pieces inputs_of(const collective::CollectiveSchedule& schedule);

/// Returns the number that `rank` must have in a piece of its output.
std::int64_t expected(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                      std::size_t rank, std::size_t piece);

/// Expects the right outputs on all ranks that have an output (after a reduction to one rank, only
/// on that rank).
void expect_outputs(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                    const Pieces& outputs);

/// Returns every schedule that exists for these operations on small groups, with two chunks each.
std::vector<collective::CollectiveScheduleSpec> small_specs(
    const std::vector<collective::CollectiveOperation>& collectives);

}  // namespace stepwright::collective_files
