#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/plan/document_batch.h"

namespace stepwright::plan {

/// Reads `lengths` and `packing` of a batch whose sequences have `length` tokens; nullopt if it
/// names no lengths; `unsaid` where it names no packing. Paths are relative to `directory`.
std::optional<DocumentBatch> read_document_batch(Node batch, std::int64_t length,
                                                 const std::filesystem::path& directory,
                                                 const packing::Packing& unsaid = {});

/// Adds both keys to a batch.
void write_document_batch(nlohmann::ordered_json& batch, const DocumentBatch& documents);

/// A path of a file in its absolute form: a plan file may stand in another folder than its job.
/// Fails where there is none.
std::string read_path(Node node, const std::filesystem::path& directory);

}  // namespace stepwright::plan
