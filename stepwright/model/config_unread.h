#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Returns the first class named in a file's `auto_map`: Python code shipped with the model, which
/// this program never runs; nullopt if there is none.
std::optional<std::string> custom_code_class(DocumentNode config);

/// Adds notes about keys of a `config.json` that its reader did not use, and about code shipped
/// with the model (`auto_map`). Keys that do not shape the decoder (tokenizer, dropout,
/// initialisation, caches, names) are ignored. Fails with `kUnsupported` for a key that adds a part
/// known from other types (experts, latent attention, recurrent state), with `kInput` for a
/// misspelt key.
void note_unread_keys(const ConfigJsonReader& fields, std::string_view model_type,
                      DocumentNode config, const ModelArchitecture& model,
                      std::vector<std::string>& notes);

}  // namespace stepwright::model
