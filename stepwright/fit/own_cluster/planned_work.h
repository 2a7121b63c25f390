#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::fit {

/// The computations of one kind and phase that one rank does in one step, by the plan.
struct PlannedWork {
  double operators = 0;
  double flops = 0;
  double bytes = 0;
  DType dtype{};
};
using WorkByKind = std::map<std::pair<step::OperatorKind, step::Phase>, PlannedWork>;

/// The messages of one scheme and operation that one rank sends in one step, by the plan.
struct PlannedMessages {
  double calls = 0;
  double bytes = 0;  ///< Bytes of the full buffers of all calls.
};
using MessagesByScheme = std::map<std::pair<step::Scheme, collective::Collective>, PlannedMessages>;

/// Returns the computations of a pipeline position in a step; recomputation counts as forward
/// (`law_phase`).
WorkByKind planned_work(const step::StepProgram& program, const step::Stage& stage);

/// Returns the messages that a pipeline position sends to other ranks in a step.
MessagesByScheme planned_messages(const step::StepProgram& program, const step::Stage& stage);

}  // namespace stepwright::fit
