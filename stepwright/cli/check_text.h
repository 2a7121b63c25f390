#pragma once

#include <string>

#include "stepwright/check/check.h"

namespace stepwright::cli {

/// Returns one screen of text about a job: whether it starts and fits, its step time, better
/// settings, and settings that were not read.
std::string check_text(const check::JobCheck& check);

}  // namespace stepwright::cli
