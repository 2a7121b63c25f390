#include "stepwright/step/unit.h"

#include <utility>

namespace stepwright::step {

ParameterBlockTemplate::ParameterBlockTemplate(const Setting& setting, std::string name,
                                               std::vector<LocalParameter> local)
    : s(setting), builder(std::move(name), std::move(local), setting.busiest) {
  const Tensor gathered = gathered_parameter_tensor(s, unit_size(s, builder.piece().parameters));
  if (gathered.elements() > 0) parameters = builder.input(gathered);
}

void ParameterBlockTemplate::create_block_gradient_tensor() {
  const Tensor leaving = block_gradient_tensor(s, unit_size(s, builder.piece().parameters));
  if (leaving.elements() > 0) gradients = builder.tensor(leaving);
}

void ParameterBlockTemplate::output_block_gradient_tensor() {
  if (gradients >= 0) builder.output(gradients);
}

Tensor residual_tensor(const Setting& setting, std::string_view name) {
  return {
      .name = name, .dtype = setting.storage, .extents = {setting.rows, setting.model->hidden, 1}};
}

}  // namespace stepwright::step
