#pragma once

#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Reads the encoder of images of a multimodal config.json from its `vision_config` and the keys
/// around it; nullopt if the file has none. A tower or projector of an unknown kind is named, with
/// 0 parameters. Wrong values fail with `kInput`. Sizes are as transformers builds them
/// (models/*/modeling_*.py).
std::optional<Encoder> read_encoder(Node config, const Architecture& decoder);

}  // namespace stepwright::model
