#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// The first class of a file's own code, from its `auto_map`.
std::optional<std::string> own_code(Node config);

/// Adds notes on the keys of a `config.json` that the reader of its type did not ask for. Keys that
/// shape no decoder (tokens of a tokenizer, dropout, initialisation, caches, names) are passed
/// over. One that would shape it fails: `kUnsupported` where it is a part that other types have
/// (experts, latent attention, states), `kInput` where it is a misspelt key of this one. All others
/// become one note, and the code of a file's own (`auto_map`) another, as it is never run.
void note_unread(const ConfigFields& fields, std::string_view model_type, Node config,
                 const Architecture& model, std::vector<std::string>& notes);

}  // namespace stepwright::model
