#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/against.h"

namespace stepwright::cli {

/// A table of changes, one after the other.
std::string changes_text(const std::vector<tune::Change>& changes);

/// The text that `tune --against` prints below its answer: the plan, what is wrong with it, and the
/// changes.
std::string against_text(const tune::TuneResult& result, const tune::Against& against);

}  // namespace stepwright::cli
