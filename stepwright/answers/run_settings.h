#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stepwright/plan/run_settings.h"

namespace stepwright::answers {

/// Returns the command-line option for a key of `run:` in a job file: "--spare-nodes" for
/// `spare_nodes`.
std::string run_setting_option(std::string_view key);

/// Returns a job's settings of the whole training run, with values from the command line in place
/// of the job's. `words`: values as text, by key; absent or empty: keep the job's. Fails with
/// `kInput`, naming the option.
plan::TrainingRunSettings read_run_settings(
    const std::map<std::string, std::string, std::less<>>& words,
    const plan::TrainingRunSettings& stated);

}  // namespace stepwright::answers
