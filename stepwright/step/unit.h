#pragma once

#include <string>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The template of a block that owns parameters, with the two tensors that sharding adds: its
/// gathered parameters (an input) and its gradients before their reduction (an output).
struct Unit {
  Unit(const Setting& setting, std::string name, std::vector<LocalParameter> local);

  /// For a backward whose gradients are reduced: `open_gradients` creates the gradient tensor,
  /// `close_gradients` makes it an output at the end. No effect if gradients stay on the rank.
  void open_gradients();
  void close_gradients();

  const Setting& s;
  TemplateBuilder builder;
  TensorId parameters = -1;
  TensorId gradients = -1;
};

/// Returns the tensor of the residual stream between blocks: [rows, hidden].
Tensor residual_tensor(const Setting& setting, std::string_view name);

}  // namespace stepwright::step
