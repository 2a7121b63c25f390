#pragma once

#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright::cli {

/// Returns the text of `stepwright validate`: numbers of used and skipped measured rows, prediction
/// errors overall and by group, how often "fits or runs out of memory" was predicted right, and the
/// ten worst rows with the largest term of their prediction.
std::string prediction_validation_text(const validate::Validation& validation);

/// Returns the message for a table of measurements in which no row could be used, with the reasons.
std::string no_usable_rows_text(const std::string& file, const validate::Validation& validation);

}  // namespace stepwright::cli
