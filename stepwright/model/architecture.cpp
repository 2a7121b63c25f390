#include "stepwright/model/architecture.h"

namespace stepwright {

LayerClass Architecture::layer_class(std::int64_t layer) const {
  const auto index = static_cast<std::size_t>(layer);
  LayerClass result;
  result.experts = experts && (experts->is_dense.empty() || experts->is_dense.at(index) == 0);
  result.window = windows.empty() ? 0 : windows.at(index);
  return result;
}

std::map<LayerClass, std::int64_t> Architecture::layer_classes() const {
  std::map<LayerClass, std::int64_t> result;
  for (std::int64_t layer = 0; layer < layers; ++layer) ++result[layer_class(layer)];
  return result;
}

}  // namespace stepwright
