#pragma once

#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Reads base and scaling of the rotary positions: `rope_theta` (GPT-NeoX: `rotary_emb_base`) with
/// `rope_scaling`, or `rope_parameters` of version 5, either one mapping or one for each layer type
/// that the model has. `base` is used if the file has none. Fails with `kUnsupported` if layer
/// types differ.
void read_rotary_numbers(const ConfigFields& fields, double base, Architecture& model);

}  // namespace stepwright::model
