#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Names of the built-in models that see images.
std::vector<std::string_view> seeing_models();

/// The built-in decoder on which a model that sees images stands; nullopt: there is no such model.
std::optional<std::string_view> decoder_below(std::string_view name);

/// A model that sees images, of its decoder: other positions, and the encoder beside it.
Architecture seeing_model(std::string_view name, Architecture decoder);

}  // namespace stepwright::model
