#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/plan/document_batch.h"

namespace stepwright::plan {

/// Reads `lengths` and `packing` of a batch whose sequences have `length` tokens; nullopt if the
/// batch names no lengths. `unsaid`: the packing if the batch names none. Paths are relative to
/// `directory`.
std::optional<DocumentBatch> read_document_batch(Node batch, std::int64_t length,
                                                 const std::filesystem::path& directory,
                                                 const packing::Packing& unsaid = {});

/// Adds the keys `lengths` and `packing` to a batch.
void write_document_batch(nlohmann::ordered_json& batch, const DocumentBatch& documents);

/// Returns the absolute path of a file named in `node`, as a plan file may be in another folder
/// than its job. Fails if the file does not exist.
std::string read_path(Node node, const std::filesystem::path& directory);

}  // namespace stepwright::plan
