#include "stepwright/model/layer_order.h"

#include <algorithm>

namespace stepwright {

LayerOrder layer_order(const Architecture& model) {
  LayerOrder order;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const LayerClass which = model.layer_class(layer);
    const auto found = std::ranges::find(order.classes, which);
    order.class_of.push_back(static_cast<std::size_t>(found - order.classes.begin()));
    if (found == order.classes.end()) order.classes.push_back(which);
  }
  return order;
}

}  // namespace stepwright
