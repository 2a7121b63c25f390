#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

#include "stepwright/model/architecture.h"

namespace stepwright::testing {

/// Returns the parameter of a layer by its name; an undefined tensor: it has none.
using LayerParameters = std::function<at::Tensor(const std::string& name)>;

/// Computes a mixer with a recurrent state: from rows [batch, length, hidden] to the rows that are
/// added to them, with operations whose gradients autograd knows.
at::Tensor mix_states(const model::ModelArchitecture& model, model::TokenMixer kind,
                      const at::Tensor& x, const LayerParameters& parameter);

}  // namespace stepwright::testing
