#pragma once

#include <string>

#include "stepwright/check/check.h"

namespace stepwright::cli {

/// One screen: whether the job starts and fits, its step time, what would be better, and what was
/// not read.
std::string check_text(const check::JobCheck& check);

}  // namespace stepwright::cli
