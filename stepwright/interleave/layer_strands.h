#pragma once

#include <cstdint>

#include "stepwright/core/document.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/interleave/strand.h"
#include "stepwright/plan/job.h"

namespace stepwright {

/// The operators of one layer of a plan, forward and backward, from the templates of its step, with
/// their priced seconds and ids (`docs/strands.md`). Those that are several small ones in the
/// program (rotary embedding and attention) are one; the gradients of the residual additions b1 and
/// b10 take no time where there is no dropout. `layer` from 0. Fails with `kInput` when there is no
/// such layer, with `kUnsupported` for what has no list of operators yet: experts, context
/// parallelism, recomputation, parallel branches, tensor parallelism without sequence parallelism.
StrandPair layer_strands(const Job& job, const Plan& plan, const CostModel& cost,
                         std::int64_t layer);

/// Replaces all seconds by those of `{"forward": {"f1": s, ...}, "backward": {"b1": s, ...}}`.
/// Fails with `kInput` when an operator is missing or unknown, or a time is not above zero.
void read_times(Node node, StrandPair& pair);

}  // namespace stepwright
