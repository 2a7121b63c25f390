#pragma once

#include <string>

#include "stepwright/framework_files/draft.h"

namespace stepwright {

/// A comment line with what a file has no key for and the training code must do: micro-batch,
/// batch, optimizer, and what is trained.
std::string code_notes(const PlannedJob& planned);

/// Reads that line, if the file has it; else notes what is taken in its place.
void read_code_notes(const SourceFile& file, Draft& draft);

}  // namespace stepwright
