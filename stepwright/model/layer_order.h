#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright {

/// The layers of a model by class.
struct LayerOrder {
  std::vector<LayerClass> classes;    ///< Distinct, in the order in which the layers meet them.
  std::vector<std::size_t> class_of;  ///< Of each layer, into `classes`.
};

LayerOrder layer_order(const Architecture& model);

}  // namespace stepwright
