#pragma once

#include "stepwright/launch_scripts/batch/allocation.h"
#include "stepwright/launch_scripts/batch/host_list.h"
#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::capture {

// Names from `launch_scripts/batch/` that this folder uses often.

using launch_scripts::Allocation;
using launch_scripts::allocation_from_directives;
using launch_scripts::apply_scheduler_options;
using launch_scripts::apply_slurm_options;
using launch_scripts::expand_hosts;
using launch_scripts::holds_word;
using launch_scripts::host_list;
using launch_scripts::host_names;
using launch_scripts::Option;
using launch_scripts::option_value;
using launch_scripts::OptionRules;
using launch_scripts::slurm_rules;
using launch_scripts::split_options;
using launch_scripts::split_quoted;
using launch_scripts::SplitCommand;

}  // namespace stepwright::capture
