#include "stepwright/cost/graphed.h"

namespace stepwright {

bool in_graph(const CudaGraphs& graphs, const Operator& op) {
  if (graphs.step) return true;
  if (op.stream != Stream::kCompute) return false;
  const bool norm = op.part == LayerPart::kMlpNorm;
  return (graphs.attention && is_of_attention(op.part)) ||
         (graphs.mlp && (norm || lies_in(op.part, LayerPart::kFc1, LayerPart::kFc2))) ||
         (graphs.router && (norm || lies_in(op.part, LayerPart::kRouter, LayerPart::kTopK) ||
                            lies_in(op.part, LayerPart::kSharedFc1, LayerPart::kSharedGate)));
}

}  // namespace stepwright
