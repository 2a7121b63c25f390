#pragma once

#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// The encoder of images beside a language model in a config.json, from its `vision_config` and the
/// keys around it; nullopt if it has none. A tower or a projector of another kind than those that
/// are known is named, with 0 parameters. Wrong values fail with `kInput`. Sizes as transformers
/// builds them (models/*/modeling_*.py).
std::optional<Encoder> read_encoder(Node config, const Architecture& decoder);

}  // namespace stepwright::model
