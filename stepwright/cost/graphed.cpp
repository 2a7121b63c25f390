#include "stepwright/cost/graphed.h"

namespace stepwright::cost {

bool in_graph(const plan::CudaGraphs& graphs, const step::Operator& op) {
  if (graphs.step) return true;
  if (op.stream != step::Stream::kCompute) return false;
  const bool norm = op.part == step::LayerPart::kMlpNorm;
  return (graphs.attention && step::is_of_attention(op.part)) ||
         (graphs.mlp &&
          (norm || step::lies_in(op.part, step::LayerPart::kFc1, step::LayerPart::kFc2))) ||
         (graphs.router &&
          (norm || step::lies_in(op.part, step::LayerPart::kRouter, step::LayerPart::kTopK) ||
           step::lies_in(op.part, step::LayerPart::kSharedFc1, step::LayerPart::kSharedGate)));
}

}  // namespace stepwright::cost
