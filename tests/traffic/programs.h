#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// Returns a plan with these degrees and defaults for everything else.
plan::Plan plan_of(const plan::ParallelismDegrees& parallel);

/// Returns a forward message of `bytes` bytes (one byte per element) on the compute stream.
step::Operator message(step::OperatorKind kind, step::ParallelismScheme scheme,
                       plan::CommunicatorKind group, std::int64_t bytes);

/// Returns a program in which every stage runs these operators once per micro-batch.
step::StepProgram program_of(const plan::Plan& plan, std::vector<step::Operator> operators,
                             std::int32_t micro_batches = 1);

/// Returns a cluster of nodes with `devices` devices and one NIC for each; NVLink inside, one
/// network outside.
cluster::Cluster cluster_of(std::int64_t nodes, std::int64_t devices);

}  // namespace stepwright::testing
