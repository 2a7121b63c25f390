#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Parses the value of the command-line option --KEY as YAML; it can be a mapping as in a job file.
/// Returns a document with this one key.
YamlJsonDocument parse_option_document(std::string_view key, const std::string& value);

/// The batch that the user states with `--batch`, in addition to the files.
struct UserBatch {
  std::optional<std::int64_t> sequences, length;
  /// The whole `--batch` mapping if it states document lengths or packing; else nullopt.
  std::optional<YamlJsonDocument> documents;
};

/// Reads the value of `--batch`: SEQUENCES, SEQUENCESxLENGTH, or a mapping as in a job file. Fails
/// with `kInput` for another text.
UserBatch read_batch_option(const std::string& text);

/// True if the setting named `flag` switches packing on and the user's `--batch` states document
/// lengths.
bool packs_documents(const FrameworkSettingsReader& fields, std::string_view flag,
                     const UserFacts& given);

/// True if the setting named `flag` is true. The setting is not recorded as read.
bool is_setting_true(const FrameworkSettingsReader& fields, std::string_view flag);

/// Reports the maximum example length (setting `key`) as not read, for files that neither pack nor
/// pad: every example is assumed to have this length. Does nothing if the user states document
/// lengths.
void report_max_example_length_as_unread(const FrameworkSettingsReader& fields,
                                         std::string_view key, const UserFacts& given,
                                         const StatedStepBatch& job_batch, ImportReport& report);

/// Sets how documents are packed, for a batch whose document lengths the user states: as `words`
/// says if the setting `flag` is true, otherwise one document per sequence, padded to the longest
/// of its micro-batch. Without document lengths nothing changes, and `flag` stays unread.
void set_user_document_packing(const FrameworkSettingsReader& fields, std::string_view flag,
                               const StatedDocumentPacking& words, const UserFacts& given,
                               StatedStepBatch& batch);

/// Adds the document lengths that the user states to a job, packed as the files say. The job's
/// batch and its plan must be complete.
void apply_user_document_lengths(const UserBatch& batch, plan::Job& job, const plan::Plan& plan,
                                 const StatedStepBatch& job_batch, ImportReport& report);

}  // namespace stepwright::framework_files
