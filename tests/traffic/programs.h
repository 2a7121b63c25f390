#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// A plan with these degrees and everything else as it comes.
Plan plan_of(const Parallel& parallel);

/// A message of `bytes` (one byte per element) on the compute stream, forward.
Operator message(OperatorKind kind, Scheme scheme, GroupKind group, std::int64_t bytes);

/// A program in which every stage performs these operators once per micro-batch.
StepProgram program_of(const Plan& plan, std::vector<Operator> operators,
                       std::int32_t micro_batches = 1);

/// Nodes of `devices` with one NIC per device, inside NVLink, outside one network.
Cluster cluster_of(std::int64_t nodes, std::int64_t devices);

}  // namespace stepwright::testing
