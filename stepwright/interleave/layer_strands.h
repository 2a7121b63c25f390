#pragma once

#include <cstdint>

#include "stepwright/core/document.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/interleave/strand.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/layer.h"

namespace stepwright::interleave {

/// The two strands of a layer, and the templates from which they were made.
struct LayerStrands {
  StrandPair pair;
  step::BlockPair templates;
};

/// Returns the forward and backward operators of one layer of a plan, from the templates of its
/// step, with their priced seconds and ids (`docs/strands.md`). Several small operators of the
/// program (rotary embedding and attention) are one; an entry of a ring is a block of attention
/// with the messages beside it, and takes as long as the longer of both. The gradients of the
/// residual additions b1 and b10 take no time without dropout. `layer` counts from 0. Fails with
/// `kInput` if the layer does not exist, with `kUnsupported` for layers without a list of
/// operators: context parallelism other than a ring, parallel branches.
LayerStrands layer_strands(const plan::Job& job, const plan::Plan& plan,
                           const cost::CostModel& cost, std::int64_t layer);

/// Replaces all seconds by those of `{"forward": {"f1": s, ...}, "backward": {"b1": s, ...}}`.
/// Fails with `kInput` if an operator is missing or unknown, or a time is not above zero.
void read_times(Node node, StrandPair& pair);

}  // namespace stepwright::interleave
