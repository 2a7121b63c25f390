#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/model/architecture.h"

namespace stepwright::framework_files {

// Properties that differ between layers, under Megatron-Core's names: hybrids whose layers are only
// a mixer or only a feed-forward, gated delta nets, windows, rotary positions.

/// True if Megatron builds a model with its hybrid (Mamba) model class, not its GPT class, because
/// some layers have only a mixer (attention, Mamba) or only a feed-forward.
bool is_megatron_hybrid_model(const model::ModelArchitecture& model);

/// Adds Megatron-Core's fields for properties that differ between layers: mixers (Mamba, delta
/// net), attention windows, rotary positions.
void add_megatron_mixer_fields(DocumentTree& fields, const model::ModelArchitecture& model);
/// Sets properties that differ between layers from Megatron-Core's fields: mixers (Mamba, delta
/// net), attention windows, rotary positions; in a hybrid model also feed-forwards.
void read_megatron_mixer_fields(const FrameworkSettingsReader& fields,
                                model::ModelArchitecture& model, ImportReport& report);

/// True if `hybrid_layer_pattern` ("M-M*") has letters for kinds of layers that no model here has.
bool has_unknown_hybrid_layer_letters(const FrameworkSettingsReader& fields);
/// Returns the number of layers in `hybrid_layer_pattern` ("M-M*"); nullopt if the field is absent.
std::optional<std::int64_t> hybrid_layer_count(const FrameworkSettingsReader& fields);

/// Returns Megatron's pattern of a hybrid model's layers, divided into pipeline chunks of these
/// numbers of layers: "M-M*|M-M-"; undivided if `chunks` is empty.
std::string hybrid_layer_pattern_text(const model::ModelArchitecture& model,
                                      std::span<const std::int64_t> chunks);
/// Returns the number of layers in each pipeline chunk of `hybrid_layer_pattern` ("M-M*|M-M-");
/// empty if it is not divided.
std::vector<std::int64_t> hybrid_chunk_layer_counts(const FrameworkSettingsReader& fields);

}  // namespace stepwright::framework_files
