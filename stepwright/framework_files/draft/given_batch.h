#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Parses the value of an option, which can be a mapping as in a job.
Document option_document(std::string_view key, const std::string& value);

/// The batch that a user states in addition to the files.
struct GivenBatch {
  std::optional<std::int64_t> sequences, length;
  /// The mapping, if it states document lengths; else nullopt.
  std::optional<Document> documents;
};

/// Reads a batch from SEQUENCES, SEQUENCESxLENGTH, or a mapping as in a job. Fails with `kInput`
/// for another text.
GivenBatch read_given_batch(const std::string& text);

/// True if the flag switches packing on and the user states document lengths.
bool packs_documents(const Fields& fields, std::string_view flag, const UserFacts& given);

/// True if the flag is set. Asking does not count as reading the flag.
bool is_flag_set(const Fields& fields, std::string_view flag);

/// Lists as not read the length to which examples are cut, if they are neither packed nor padded:
/// each example is counted as that long, because the lengths of examples are unknown.
void list_length_bound(const Fields& fields, std::string_view key, const UserFacts& given,
                       const JobBatch& job_batch, ImportReport& report);

/// Takes the packing that a flag switches on, if the user states document lengths; else the flag is
/// listed as not read. Without the flag, each sequence of a micro-batch is padded to the longest.
void apply_packing(const Fields& fields, std::string_view flag, const PackingWords& words,
                   const UserFacts& given, JobBatch& batch);

/// Adds the user's document lengths to a job whose batch and plan are settled, packed as the files
/// say.
void apply_user_documents(const GivenBatch& batch, plan::Job& job, const plan::Plan& plan,
                          const JobBatch& job_batch, ImportReport& report);

}  // namespace stepwright::framework_files
