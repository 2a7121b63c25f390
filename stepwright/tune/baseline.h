#pragma once

#include <optional>

#include "stepwright/tune/tune.h"

namespace stepwright {

/// The usual rule of thumb, whatever the job's space lists: the smallest tensor x pipeline that
/// fits, tensor within a node (of equal products the larger tensor), all other devices data
/// parallel; micro-batch 1, 1F1B, optimizer states over all data ranks (zero1), sequence
/// parallelism wherever tensor is above 1; selective or full recomputation only where it is needed
/// to fit; experts: expert parallelism only where it is needed to fit. Nothing when no such plan
/// fits.
std::optional<Baseline> rule_of_thumb(const Job& job, const CostModel& cost, double capacity_bytes);

}  // namespace stepwright
