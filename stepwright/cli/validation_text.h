#pragma once

#include <string>

#include "stepwright/validate/validation.h"

namespace stepwright {

/// What `stepwright validate` prints for people: rows used and skipped, errors in all and by group,
/// labels of memory, and the ten worst rows with the largest term of their prediction.
std::string validation_text(const Validation& validation);

}  // namespace stepwright
