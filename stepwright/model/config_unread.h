#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Returns the first class that a file's `auto_map` names, which is code that comes with the model;
/// nullopt if there is none.
std::optional<std::string> custom_code_class(Node config);

/// Adds notes on the keys of a `config.json` that the reader of its type did not ask for. Keys that
/// do not shape a decoder (tokens of a tokenizer, dropout, initialisation, caches, names) are
/// ignored. A key that would shape it fails: with `kUnsupported` if it adds a part that other types
/// have (experts, latent attention, states), with `kInput` if it is a misspelt key of this type.
/// All other keys share one note. Code that comes with the model (`auto_map`) is a second note,
/// since it is never run.
void note_unread_keys(const ConfigFields& fields, std::string_view model_type, Node config,
                      const Architecture& model, std::vector<std::string>& notes);

}  // namespace stepwright::model
