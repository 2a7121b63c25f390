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

/// True if a model is built by Megatron's hybrid model and not by its GPT model.
bool is_hybrid(const model::Architecture& model);

/// Adds the fields for the layers' mixers, windows and rotary positions.
void add_mixer_fields(Tree& fields, const model::Architecture& model);
/// Reads the layers' mixers, windows and rotary positions; in a hybrid also their feed-forwards.
void read_mixer_fields(const Fields& fields, model::Architecture& model, ImportReport& report);

/// True if a hybrid's pattern has letters of layers that no model here has.
bool has_other_layers(const Fields& fields);
/// Returns the number of layers in a hybrid's pattern; nullopt if there is no pattern.
std::optional<std::int64_t> hybrid_layers(const Fields& fields);

/// Returns a hybrid's pattern, divided into chunks of these numbers of layers in model order:
/// "M-M*|M-M-". Undivided if `chunks` is empty.
std::string hybrid_pattern(const model::Architecture& model, std::span<const std::int64_t> chunks);
/// Returns the number of layers in each chunk of a pattern; empty if it is not divided.
std::vector<std::int64_t> hybrid_chunks(const Fields& fields);

}  // namespace stepwright::framework_files
