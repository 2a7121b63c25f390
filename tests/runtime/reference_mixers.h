#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

#include "stepwright/model/architecture.h"

namespace stepwright::testing {

/// The parameter of a layer by its name; undefined when it has none.
using LayerParameters = std::function<at::Tensor(const std::string& name)>;

/// A mixer that carries a state, from rows [batch, length, hidden] to what is added to them, by
/// operations of which autograd knows the gradients.
at::Tensor mix_states(const model::Architecture& model, model::Mixer kind, const at::Tensor& x,
                      const LayerParameters& parameter);

}  // namespace stepwright::testing
