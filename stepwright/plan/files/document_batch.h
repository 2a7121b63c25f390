#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/core/document.h"
#include "stepwright/plan/document_batch.h"

namespace stepwright::plan {

/// Reads `lengths` and `packing` of a job's batch with sequences of `length` tokens; nullopt if it
/// has no `lengths`. `unsaid`: packing to use if the batch names none; `directory`: folder to which
/// paths are relative.
std::optional<PackedDocumentBatch> read_document_batch(DocumentNode batch, std::int64_t length,
                                                       const std::filesystem::path& directory,
                                                       const packing::Packing& unsaid = {});

/// Adds the keys `lengths` and `packing` to a batch in JSON.
void write_document_batch(nlohmann::ordered_json& batch, const PackedDocumentBatch& documents);

/// Returns the path in `node`, relative to `directory`, as an absolute path, because plan files may
/// be in another folder than their job. Fails if the file does not exist.
std::string read_absolute_path(DocumentNode node, const std::filesystem::path& directory);

}  // namespace stepwright::plan
