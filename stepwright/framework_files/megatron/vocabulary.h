#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Returns the size of the vocabulary, from `vocab_size`, `padded_vocab_size`, or a tokenizer known
/// by its type and name; nullopt if none states it. A size from a tokenizer is noted in the report.
std::optional<std::int64_t> read_vocabulary(const Fields& fields, const ProgramStart& start,
                                            ImportReport& report);

/// Adds a NullTokenizer, which needs no files, and padding arguments that give the plan's
/// vocabulary in the release of the job's framework.
void add_null_tokenizer(Tree& fields, const plan::PlannedJob& planned);

/// Adds a note about the size to which Megatron pads the vocabulary.
void note_padding(const Fields& fields, const plan::Plan& plan, ModelWords& model_words,
                  ImportReport& report);

}  // namespace stepwright::framework_files
