#include "stepwright/step/unit.h"

#include <utility>

namespace stepwright::step {

ParameterizedBlockTemplate::ParameterizedBlockTemplate(const StepBuildSettings& setting,
                                                       std::string name,
                                                       std::vector<RankLocalParameter> local)
    : s(setting), builder(std::move(name), std::move(local), setting.busiest) {
  const TemplateTensor gathered =
      gathered_parameter_tensor(s, unit_size(s, builder.piece().parameters));
  if (gathered.elements() > 0) parameters = builder.add_input_tensor(gathered);
}

void ParameterizedBlockTemplate::create_block_gradient_tensor() {
  const TemplateTensor leaving = block_gradient_tensor(s, unit_size(s, builder.piece().parameters));
  if (leaving.elements() > 0) gradients = builder.tensor(leaving);
}

void ParameterizedBlockTemplate::output_block_gradient_tensor() {
  if (gradients >= 0) builder.output(gradients);
}

TemplateTensor residual_tensor(const StepBuildSettings& setting, std::string_view name) {
  return {
      .name = name, .dtype = setting.storage, .extents = {setting.rows, setting.model->hidden, 1}};
}

}  // namespace stepwright::step
