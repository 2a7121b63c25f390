#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns the number of tokens in the vocabulary, from `vocab_size`, `padded_vocab_size`, or a
/// known tokenizer's type and name; nullopt if unknown. A size that follows from a tokenizer is
/// noted in the report.
std::optional<std::int64_t> read_vocabulary_size(const FrameworkSettingsReader& fields,
                                                 const StartedTrainingProgram& start,
                                                 ImportReport& report);

/// Adds Megatron's NullTokenizer, which needs no files, to `fields`, with the size and padding that
/// give the plan's vocabulary in the job's release of Megatron-Core.
void add_megatron_null_tokenizer(DocumentTree& fields, const plan::PlannedJob& planned);

/// Adds a note to the report if Megatron pads the vocabulary to another size than the plan assumes.
/// If the padded size is a built-in model's, the model gets that size instead.
void note_vocabulary_padding(const FrameworkSettingsReader& fields, const plan::Plan& plan,
                             StatedModel& model_words, ImportReport& report);

}  // namespace stepwright::framework_files
