#pragma once

#include <string>

#include "stepwright/check/check.h"

namespace stepwright {

/// One screen: whether the job starts and fits, its step time, what would be better, and what was
/// not read.
std::string check_text(const JobCheck& check);

}  // namespace stepwright
