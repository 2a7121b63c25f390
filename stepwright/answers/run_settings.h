#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/plan/run_settings.h"

namespace stepwright::answers {

/// The option of a key of a job's `run`: "--spare-nodes" for `spare_nodes`.
std::string run_option(std::string_view key);

/// Returns what a job states of its whole run, replaced by what a person says beside it: `words` by
/// key; absent or empty: as stated. Fails with `kInput`, naming the option.
plan::RunSettings read_run_settings(const std::map<std::string, std::string, std::less<>>& words,
                                    const plan::RunSettings& stated);

}  // namespace stepwright::answers
