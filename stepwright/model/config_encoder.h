#pragma once

#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Reads the image encoder of a multimodal config.json from its `vision_config` and neighbouring
/// keys, with the sizes that transformers builds (models/*/modeling_*.py); nullopt if the
/// config.json describes none. An unknown kind of tower or projector is named and gets 0
/// parameters. Fails with `kInput` on wrong values.
std::optional<ImageEncoder> read_image_encoder(DocumentNode config,
                                               const ModelArchitecture& decoder);

}  // namespace stepwright::model
