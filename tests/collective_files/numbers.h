#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/collective/generate.h"

namespace stepwright::collective_files {

/// Per rank, a number per piece.
using Pieces = std::vector<std::vector<std::int64_t>>;

/// Numbers of which no two sums are alike by chance.
Pieces inputs_of(const collective::CollectiveSchedule& schedule);

/// The number that `rank` must have in a piece of its output.
std::int64_t expected(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                      std::size_t rank, std::size_t piece);

/// Expects the outputs of the ranks that have one: the first alone after a reduction to one.
void expect_outputs(const collective::CollectiveSchedule& schedule, const Pieces& inputs,
                    const Pieces& outputs);

/// Every schedule that exists for these operations on small groups, two chunks each.
std::vector<collective::ScheduleSpec> small_specs(
    const std::vector<collective::Collective>& collectives);

}  // namespace stepwright::collective_files
