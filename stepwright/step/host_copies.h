#pragma once

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Appends copies to host memory, on a stream of their own, of the tensors that the modules in
/// `modules` keep for the backward. Returns `kept` with the host tensors in place of those tensors.
/// A device tensor is freed when its last reader in the template, which may be the copy, has ended.
KeptTensors copy_kept_tensors_to_host(OperatorTemplateBuilder& forward, const KeptTensors& kept,
                                      plan::OffloadModuleSet modules);

/// Inserts copies of kept tensors from host memory before a backward's operators, in the order in
/// which the backward needs them. Returns the tensors of `restored` as device tensors.
KeptTensors copy_kept_tensors_from_host(OperatorTemplateBuilder& backward,
                                        const KeptTensors& restored);

}  // namespace stepwright::step
