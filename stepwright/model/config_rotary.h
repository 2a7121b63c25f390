#pragma once

#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Reads base and scaling of the rotary positions: `rope_theta` (GPT-NeoX: `rotary_emb_base`) with
/// `rope_scaling`, or version 5's `rope_parameters`, alone or for each layer type that the model
/// has. `base`: where the file says none. Fails with `kUnsupported` when layer types differ.
void read_rotary_numbers(const ConfigFields& fields, double base, Architecture& model);

}  // namespace stepwright::model
