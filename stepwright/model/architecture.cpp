#include "stepwright/model/architecture.h"

namespace stepwright {

LayerClass Architecture::layer_class(std::int64_t layer) const {
  if (!pattern.empty()) return pattern.at(static_cast<std::size_t>(layer));
  return {.feed_forward = experts ? FeedForward::kExperts : FeedForward::kDense};
}

std::map<LayerClass, std::int64_t> Architecture::layer_classes() const {
  std::map<LayerClass, std::int64_t> result;
  for (std::int64_t layer = 0; layer < layers; ++layer) ++result[layer_class(layer)];
  return result;
}

}  // namespace stepwright
