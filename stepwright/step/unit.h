#pragma once

#include <string>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The template of a block that owns parameters, with the two tensors that sharding adds: its
/// gathered parameters (an input) and its gradients on their way to a reduction (an output).
struct Unit {
  Unit(const Setting& setting, std::string name, std::vector<LocalParameter> local);

  /// Backward blocks whose gradients leave: creates the tensor; closed as an output at the end.
  void open_gradients();
  void close_gradients();

  const Setting& s;
  TemplateBuilder builder;
  TensorId parameters = -1;
  TensorId gradients = -1;
};

/// The residual stream between blocks: [rows, hidden].
Tensor residual_tensor(const Setting& setting, std::string_view name);

}  // namespace stepwright::step
