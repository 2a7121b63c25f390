#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright::model {

/// Returns the names of the built-in models, sorted.
std::vector<std::string_view> built_in_models();

/// Returns the built-in model with this canonical name; nullopt if there is none.
std::optional<Architecture> built_in_model(std::string_view name);

/// Returns the name of the built-in model that a Hugging Face id names
/// (`meta-llama/Llama-3.1-70B-Instruct`); tuned variants of the same sizes match their base model.
/// nullopt for any other text: a name that only begins like a built-in one can have other sizes.
std::optional<std::string_view> built_in_of_id(std::string_view id);

/// Reads a Hugging Face `config.json` of transformers 4 or 5, also the text_config of a multimodal
/// file. Sizes are required; other absent keys get the defaults of transformers' configuration
/// class. Dropout, which is a choice of training, is ignored. Adds to `notes` the keys that no
/// reader asked for.
/// Errors: `kUnsupported`, with the supported names, for an unknown model_type, activation or layer
/// type, and for a key that adds a part which the type does not have; `kInput` for bad values and
/// misspelt keys.
Architecture read_config(const Document& document, std::vector<std::string>* notes = nullptr);

/// Reads the inline mapping of a job (docs/formats.md, "Inline model"). Unknown keys are errors.
Architecture read_inline_model(Node node);

/// Reads the `model:` field of a job: a built-in name; a path (relative to `directory`) of a
/// config.json, of a folder with one, or of a YAML file with an inline model; or an inline mapping.
/// `notes`: as in `read_config`.
Architecture read_model(Node node, const std::filesystem::path& directory,
                        std::vector<std::string>* notes = nullptr);

/// Writes a model as an inline mapping that `read_inline_model` reads back to an equal model. Plans
/// contain this mapping, so that they do not depend on other files.
nlohmann::ordered_json inline_model(const Architecture& model);

/// Writes one entry of `stepwright list models --json`: name, parameters, active_parameters,
/// layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, positions, norm, position,
/// activation, gated, tied, attention (full | grouped | latent), length, forward_flops_per_token
/// and flops_per_token (forward and backward) at that length.
/// If the model has them, also window, experts, multi_token_layers and multi_token_counted, encoder
/// and beyond. The entry of an encoder, which the counts above leave out, has name, parameters,
/// projector, and patches, tokens and forward_flops of an image.
nlohmann::ordered_json describe_model(const Architecture& model, std::int64_t length);

}  // namespace stepwright::model
