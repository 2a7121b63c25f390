#pragma once

#include <string>

#include "stepwright/check/check.h"

namespace stepwright::cli {

/// Returns the text of `stepwright check`: whether a job starts and fits in memory, its step time,
/// better settings, and settings that were not read.
std::string job_check_text(const check::JobCheckResult& check);

}  // namespace stepwright::cli
