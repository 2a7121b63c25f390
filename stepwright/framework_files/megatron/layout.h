#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns the layers of each chunk, in model order, in Megatron's pipeline layout: "Ett|tt|ttL";
/// with a multi-token layer "Ett|tt|ttmL".
std::string layout_text(std::span<const std::int64_t> layers, std::int64_t multi_token);

/// Reads the layers of each chunk from a layout, also with `*N` repetitions and groups in
/// parentheses. Fails with `kInput` for other letters, empty chunks, and more than 65,536 parts.
std::vector<std::int64_t> read_layout(Node node);
/// True if a layout has multi-token layers on a stage before the last.
bool splits_multi_token_layers(Node node);

/// Returns the model's layers, plus one each for embedding and loss if they count as layers in the
/// split.
std::int64_t counted_layers(const Fields& fields, std::int64_t layers);

/// Returns the layers of each chunk if the first and last chunk can have other numbers than the
/// rest; empty for an even split. Fails with `kInput` if the rest cannot be split evenly.
std::vector<std::int64_t> uneven_layers(const Fields& fields, std::int64_t layers,
                                        std::int64_t chunks);

}  // namespace stepwright::framework_files
