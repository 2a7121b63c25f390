#pragma once

#include <string>
#include <vector>

#include "stepwright/tune/against.h"

namespace stepwright::cli {

/// A table of changes, one after the other. `in_files`: what each sets in words of the files that a
/// person has, which then come first; empty where there are none.
std::string changes_text(const std::vector<tune::Change>& changes,
                         const std::vector<std::vector<std::string>>& in_files = {});

/// The text that `tune --against` prints below its answer: the plan, what is wrong with it, and the
/// changes.
std::string against_text(const tune::TuneResult& result, const tune::Against& against);

}  // namespace stepwright::cli
