#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// A plan with these degrees and everything else as it comes.
plan::Plan plan_of(const plan::Parallel& parallel);

/// A message of `bytes` (one byte per element) on the compute stream, forward.
step::Operator message(step::OperatorKind kind, step::Scheme scheme, plan::GroupKind group,
                       std::int64_t bytes);

/// A program in which every stage performs these operators once per micro-batch.
step::StepProgram program_of(const plan::Plan& plan, std::vector<step::Operator> operators,
                             std::int32_t micro_batches = 1);

/// Nodes of `devices` with one NIC per device, inside NVLink, outside one network.
cluster::Cluster cluster_of(std::int64_t nodes, std::int64_t devices);

}  // namespace stepwright::testing
