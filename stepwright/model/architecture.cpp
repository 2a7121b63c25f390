#include "stepwright/model/architecture.h"

namespace stepwright {

LayerClass Architecture::usual_layer() const {
  return {.feed_forward = experts ? FeedForward::kExperts : FeedForward::kDense};
}

LayerClass Architecture::layer_class(std::int64_t layer) const {
  return pattern.empty() ? usual_layer() : pattern.at(static_cast<std::size_t>(layer));
}

std::map<LayerClass, std::int64_t> Architecture::layer_classes() const {
  std::map<LayerClass, std::int64_t> result;
  for (std::int64_t layer = 0; layer < layers; ++layer) ++result[layer_class(layer)];
  return result;
}

}  // namespace stepwright
