#pragma once

#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright::cli {

/// The text of `stepwright validate`: rows used and skipped, errors in all and by group, labels of
/// memory, and the ten worst rows with the largest term of their prediction.
std::string validation_text(const validate::Validation& validation);

/// Why no row of a file could be used.
std::string unusable_text(const std::string& file, const validate::Validation& validation);

}  // namespace stepwright::cli
