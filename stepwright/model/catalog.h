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
std::vector<std::string_view> built_in_model_names();

/// Returns the built-in model of this exact name; nullopt if there is none.
std::optional<ModelArchitecture> built_in_model(std::string_view name);

/// Returns the name of the built-in model with the sizes of a Hugging Face model id
/// (`meta-llama/Llama-3.1-70B-Instruct`), tuned variants included. nullopt for any other id, even
/// if it begins like a built-in one, since its sizes may differ.
std::optional<std::string_view> built_in_model_of_hub_id(std::string_view id);

/// Reads a model from a Hugging Face `config.json` (transformers 4 or 5; for multimodal files, its
/// text_config). Sizes are required; other absent keys get transformers' defaults; dropout is
/// ignored. Adds a note for keys that were not used. Fails with `kUnsupported` for an unknown
/// model_type, activation or layer type and for keys that add an unknown part, with `kInput` for
/// bad values and misspelt keys.
ModelArchitecture read_huggingface_config(const YamlJsonDocument& document,
                                          std::vector<std::string>* notes = nullptr);

/// Reads a model that is written inside a job file as a mapping (docs/formats.md, "Inline model").
/// Unknown keys are errors.
ModelArchitecture read_inline_model(DocumentNode node);

/// Reads the `model:` field of a job: a built-in name; a path (relative to `directory`) of a
/// config.json, its folder, or a YAML file with an inline model; or an inline mapping. Adds notes
/// for users to `notes`, as `read_huggingface_config` does.
ModelArchitecture read_job_model(DocumentNode node, const std::filesystem::path& directory,
                                 std::vector<std::string>* notes = nullptr);

/// Returns a model as the mapping that plan files contain, so that they do not depend on other
/// files; `read_inline_model` reads it back as an equal model.
nlohmann::ordered_json inline_model_mapping(const ModelArchitecture& model);

/// Returns one entry of `stepwright list models --json`: name, sizes, parameter counts, and FLOPs
/// per token at sequence length `length`, forward (`forward_flops_per_token`) and forward plus
/// backward (`flops_per_token`). Window, experts, multi-token layers, encoder and inexpressible
/// parts appear if the model has them. The encoder, which these counts leave out, has parameters,
/// projector, and patches, tokens and forward FLOPs of an image.
nlohmann::ordered_json model_list_entry_json(const ModelArchitecture& model, std::int64_t length);

}  // namespace stepwright::model
