#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// An option whose value may be a mapping as in a job.
Document option_document(std::string_view key, const std::string& value);

/// The batch as a person gives it beside files.
struct GivenBatch {
  std::optional<std::int64_t> sequences, length;
  /// The mapping, where it says how long documents are.
  std::optional<Document> documents;
};

/// Reads SEQUENCES, SEQUENCESxLENGTH, or a mapping as in a job. Fails with `kInput`.
GivenBatch read_given_batch(const std::string& text);

/// Whether a flag of the fields switches packing on and a person says how long documents are.
bool packs_documents(const Fields& fields, std::string_view flag, const Given& given);

/// True if the fields set a flag. Asking leaves the flag among those that nobody read.
bool asks_for(const Fields& fields, std::string_view flag);

/// Lists a length to which examples are cut, where they are neither packed nor filled up: each
/// example is counted as long as that, and nobody says how long examples are.
void list_length_bound(const Fields& fields, std::string_view key, const Given& given,
                       const JobBatch& job_batch, ImportReport& report);

/// Takes the packing that a flag of the fields switches on where a person says how long documents
/// are; else the flag is left to be listed as not read. Without the flag each sequence of a
/// micro-batch is filled up to the longest.
void take_packing(const Fields& fields, std::string_view flag, const PackingWords& words,
                  const Given& given, JobBatch& batch);

/// Puts the documents that a person gives into a job whose batch and plan are settled, packed as
/// the files say.
void take_documents(const GivenBatch& batch, plan::Job& job, const plan::Plan& plan,
                    const JobBatch& job_batch, ImportReport& report);

}  // namespace stepwright::framework_files
