#pragma once

#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Reads base and scaling of rotary positions: `rope_theta` (GPT-NeoX: `rotary_emb_base`) with
/// `rope_scaling`, or transformers 5's `rope_parameters`, one mapping or one per layer type.
/// `base`: rotary base if the config.json has none. Fails with `kUnsupported` if layer types
/// differ.
void read_rotary_base_and_scaling(const ConfigJsonReader& fields, double base,
                                  ModelArchitecture& model);

}  // namespace stepwright::model
