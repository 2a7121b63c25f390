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

/// Names of the built-in models, sorted.
std::vector<std::string_view> built_in_models();

/// A built-in model by its canonical name.
std::optional<Architecture> built_in_model(std::string_view name);

/// The built-in model that an id of Hugging Face names (`meta-llama/Llama-3.1-70B-Instruct`), its
/// tuned siblings too, which have the same sizes. Nothing for any other text: a name that only
/// begins like a built-in one may be of another size.
std::optional<std::string_view> built_in_of_id(std::string_view id);

/// A Hugging Face `config.json` of transformers 4 or 5, also in the text_config of a multimodal
/// file. Sizes must be there; other absent keys have the defaults of transformers' configuration
/// class; dropout (a choice of training) is passed over. Adds to `notes` the keys that no reader
/// asks for. Errors: an unknown model_type, activation or layer type is `kUnsupported` naming the
/// supported ones, a key that gives the type a part it has not too; bad values and misspelt keys
/// are `kInput`.
Architecture read_config(const Document& document, std::vector<std::string>* notes = nullptr);

/// An inline mapping of a job (docs/formats.md, "Inline model"). Unknown keys are errors.
Architecture read_inline_model(Node node);

/// The `model:` field of a job: a built-in name, a path (relative to `directory`) to a config.json,
/// to the folder of one or to a YAML file with an inline model, or an inline mapping. `notes`: as
/// `read_config`.
Architecture read_model(Node node, const std::filesystem::path& directory,
                        std::vector<std::string>* notes = nullptr);

/// The inline mapping that `read_inline_model` reads back to an equal architecture; used to write
/// plans that stand alone.
nlohmann::ordered_json inline_model(const Architecture& model);

/// The entry of one model in `stepwright list models --json`: name, parameters, active_parameters,
/// layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, positions, norm, position,
/// activation, gated, tied, attention (full | grouped | latent), length, forward_flops_per_token
/// and flops_per_token (forward and backward) at that length; where the model has them window,
/// experts, multi_token_layers and multi_token_counted, encoder (none of it in the counts above:
/// name, parameters, projector, and of an image patches, tokens and forward_flops), beyond.
nlohmann::ordered_json describe_model(const Architecture& model, std::int64_t length);

}  // namespace stepwright::model
