#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/model/architecture.h"

namespace stepwright {

/// Names of the built-in models, sorted.
std::vector<std::string_view> built_in_models();

/// A built-in model by its canonical name.
std::optional<Architecture> built_in_model(std::string_view name);

/// A Hugging Face `config.json` (both spellings, text_config of multimodal files). Errors: unknown
/// model_type is `kUnsupported` naming the supported ones; bad values are `kInput`.
Architecture read_config(const Document& document);

/// An inline mapping of a job (docs/formats.md, "Inline model"). Unknown keys are errors.
Architecture read_inline_model(Node node);

/// The `model:` field of a job: a built-in name, a path (relative to `directory`) to a config.json
/// or to a YAML file with an inline model, or an inline mapping.
Architecture read_model(Node node, const std::filesystem::path& directory);

/// The inline mapping that `read_inline_model` reads back to an equal architecture, as YAML text
/// lines of `key: value` (no indentation); used to write plans that stand alone.
nlohmann::ordered_json inline_model(const Architecture& model);

/// What `stepwright list models --json` prints of one model: name, parameters, active_parameters,
/// layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary, flops_per_token at `length`, ...
nlohmann::ordered_json describe_model(const Architecture& model, std::int64_t length);

}  // namespace stepwright
