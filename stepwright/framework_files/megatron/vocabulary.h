#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// The tokens of a vocabulary, of `vocab_size`, `padded_vocab_size` or a tokenizer that is known by
/// its type and name; nothing where none says it. Where a tokenizer does, `draft` says so.
std::optional<std::int64_t> read_vocabulary(const Fields& fields, const ProgramStart& start,
                                            ImportReport& report);

/// Adds the tokenizer of a run without one (NullTokenizer) and the padding, so that the vocabulary
/// is the plan's in the release of the job's framework.
void add_null_tokenizer(Tree& fields, const plan::PlannedJob& planned);

/// Notes to what Megatron pads the vocabulary.
void note_padding(const Fields& fields, const plan::Plan& plan, ModelWords& model_words,
                  ImportReport& report);

}  // namespace stepwright::framework_files
