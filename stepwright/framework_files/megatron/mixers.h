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

// What differs from layer to layer under the names of Megatron-Core's configuration: hybrids whose
// layers are a mixer or a feed-forward alone, gated delta nets, windows, rotations.

/// Whether a model is one of Megatron's hybrids and not its GPT.
bool is_hybrid(const model::Architecture& model);

/// Adds what layers mix with, reach back and rotate.
void add_mixer_fields(Tree& fields, const model::Architecture& model);
/// Reads the same; in a hybrid also which layers have which feed-forward.
void read_mixer_fields(const Fields& fields, model::Architecture& model, ImportReport& report);

/// Whether the pattern of a hybrid has letters of layers that no model has here.
bool has_other_layers(const Fields& fields);
/// The layers of a hybrid, which its pattern states; nothing where there is no pattern.
std::optional<std::int64_t> hybrid_layers(const Fields& fields);

/// "M-M*|M-M-": the pattern of a hybrid, cut into chunks of so many layers in model order; whole
/// where there are none.
std::string hybrid_pattern(const model::Architecture& model, std::span<const std::int64_t> chunks);
/// The layers of the chunks into which a pattern is cut; empty where it is whole.
std::vector<std::int64_t> hybrid_chunks(const Fields& fields);

}  // namespace stepwright::framework_files
