#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::fit {

/// Computations of one kind and phase that one rank does in one step of the plan: number of
/// operators, FLOPs and bytes.
struct PlannedComputations {
  double operators = 0;
  double flops = 0;
  double bytes = 0;
  DType dtype{};
};
using WorkByKind = std::map<std::pair<step::OperatorKind, step::Phase>, PlannedComputations>;

/// Messages of one kind of parallelism and operation that one rank sends in one step of the plan.
struct PlannedMessages {
  double calls = 0;
  double bytes = 0;  ///< Bytes of the full buffers, summed over all calls.
};
using MessagesByScheme =
    std::map<std::pair<step::ParallelismScheme, collective::CollectiveOperation>, PlannedMessages>;

/// Returns the computations that one rank of a pipeline stage does in a step of the plan, by kind
/// and phase; recomputation counts as forward (`phase_as_measured`).
WorkByKind planned_computations(const step::StepProgram& program,
                                const step::PipelineStageProgram& stage);

/// Returns the messages that one rank of a pipeline stage exchanges with other ranks in a step of
/// the plan, by kind of parallelism and operation.
MessagesByScheme planned_messages(const step::StepProgram& program,
                                  const step::PipelineStageProgram& stage);

}  // namespace stepwright::fit
