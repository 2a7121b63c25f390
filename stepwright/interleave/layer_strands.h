#pragma once

#include <cstdint>

#include "stepwright/core/document.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/interleave/strand.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/layer.h"

namespace stepwright::interleave {

/// Forward and backward operators of one layer with their times, and the step templates from which
/// they were made.
struct LayerOperatorLists {
  ForwardBackwardOperators pair;
  step::ModelBlockTemplatePair templates;
};

/// Returns the forward and backward operators of one layer (`layer`, from 0) of a plan, with priced
/// seconds and ids (`docs/strands.md`). Small operators that belong together (rotary embedding and
/// attention) are one; a step of ring attention is one operator as long as the longer of its
/// computation and its messages. The gradients of the residual additions, b1 and b10, take no time
/// without dropout. Fails with `kInput` if the layer does not exist, with `kUnsupported` for
/// context parallelism other than a ring and for parallel branches.
LayerOperatorLists layer_operator_lists(const plan::Job& job, const plan::Plan& plan,
                                        const cost::CostModel& cost, std::int64_t layer);

/// Replaces the predicted seconds of all operators by the user's, from `{"forward": {"f1": s, ...},
/// "backward": {"b1": s, ...}}`. Fails with `kInput` if an operator is missing or unknown, or a
/// time is not above zero.
void read_user_operator_times(DocumentNode node, ForwardBackwardOperators& pair);

}  // namespace stepwright::interleave
