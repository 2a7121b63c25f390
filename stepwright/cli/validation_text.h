#pragma once

#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright::cli {

/// Returns the text of `stepwright validate`: numbers of used and skipped rows, errors overall and
/// by group, memory labels, and the ten worst rows with the largest term of their prediction.
std::string validation_text(const validate::Validation& validation);

/// Returns the message for a file of which no row could be used, with the reasons.
std::string no_usable_rows_text(const std::string& file, const validate::Validation& validation);

}  // namespace stepwright::cli
