#pragma once

#include <string>

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The template (operators in one direction) of a block that owns parameters (layer, embedding,
/// head), with the two tensors that data-parallel sharding adds: gathered parameters (an input) and
/// gradients before their reduction (an output).
struct ParameterizedBlockTemplate {
  ParameterizedBlockTemplate(const StepBuildSettings& setting, std::string name,
                             std::vector<RankLocalParameter> local);

  /// Creates the tensor of the block's gradients in a backward whose gradients are reduced;
  /// `output_block_gradient_tensor` makes it an output at the end. No effect if gradients stay on
  /// the rank.
  void create_block_gradient_tensor();
  void output_block_gradient_tensor();

  const StepBuildSettings& s;
  OperatorTemplateBuilder builder;
  TensorId parameters = -1;
  TensorId gradients = -1;
};

/// Returns the description of the residual stream's tensor between blocks on one rank: [rows,
/// hidden].
TemplateTensor residual_tensor(const StepBuildSettings& setting, std::string_view name);

}  // namespace stepwright::step
