#pragma once

#include <optional>

#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns the plan that an expert would run without a search, by the published guides of
/// Megatron-LM and Megatron-Core (2104.04473, 2205.05198, 2402.15627; their performance guides for
/// mixtures of experts), whatever the job's space lists:
/// - the smallest tensor x pipeline that fits, tensor within a node, of equal products the larger
///   tensor; all other devices data parallel; as many micro-batches as pipeline positions or more,
///   if any plan that fits has them;
/// - experts inside a node before anything else is cut: the largest expert degree that a node has
///   room for beside tensor, several nodes only where it has to be;
/// - micro-batch 1, 1F1B, optimizer states over all data ranks (zero1), sequence parallelism
///   wherever tensor is above 1;
/// - all messages overlap computation that can, as in the search, so that a plan is better than
///   this one only by its other choices;
/// - context parallelism only where no degree of tensor and pipeline fits otherwise, and selective
///   recomputation before it; full recomputation last.
/// With a framework, each plan is replaced by the nearest plan of the same degrees that the
/// framework runs. Returns nullopt when no such plan fits.
std::optional<BaselinePlan> rule_of_thumb_plan(const plan::Job& job, const cost::CostModel& cost,
                                               const simulate::AvailablePlanMemory& room);

}  // namespace stepwright::tune
