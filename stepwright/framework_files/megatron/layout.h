#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns Megatron's pipeline layout for the number of layers in each chunk, in model order:
/// "Et*2|t*2|t*2L" for 2, 2, 2 (E: embedding, t: layer, L: loss); "...mL" with one multi-token
/// prediction layer.
std::string megatron_layout_text(std::span<const std::int64_t> layers, std::int64_t multi_token);

/// Returns the number of layers (t) in each chunk of Megatron's pipeline layout "Ett|tt|ttL", also
/// with repetitions (`t*2`) and groups in parentheses. Fails with `kInput` for other letters, a
/// layout without one E (embedding) first and one L (loss) last, or more than 65,536 letters.
std::vector<std::int64_t> parse_megatron_layout(DocumentNode node);
/// True if Megatron's pipeline layout has multi-token prediction layers (m) on a stage before the
/// last.
bool has_multi_token_layers_before_last_stage(DocumentNode node);

/// Returns the number of layers that Megatron-Core splits among stages: the model's, plus one each
/// for embedding and loss if settings count them as layers.
std::int64_t layer_count_to_split(const FrameworkSettingsReader& fields, std::int64_t layers);

/// Returns the number of layers in each of `chunks` pipeline chunks if settings treat the first or
/// last one differently; empty for an even split. Fails with `kInput` if the remaining layers
/// cannot be split evenly.
std::vector<std::int64_t> megatron_uneven_chunk_layer_counts(const FrameworkSettingsReader& fields,
                                                             std::int64_t layers,
                                                             std::int64_t chunks);

}  // namespace stepwright::framework_files
