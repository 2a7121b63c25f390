#pragma once

#include "stepwright/launch_scripts/batch/allocation.h"
#include "stepwright/launch_scripts/batch/host_list.h"
#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::capture {

// Names from `launch_scripts/batch/` that this folder uses often.

using launch_scripts::allocation_from_directives;
using launch_scripts::apply_scheduler_options;
using launch_scripts::apply_slurm_options;
using launch_scripts::BatchAllocation;
using launch_scripts::CommandOptionRules;
using launch_scripts::expand_slurm_host_list;
using launch_scripts::GivenOption;
using launch_scripts::holds_word;
using launch_scripts::last_option_value;
using launch_scripts::made_up_host_list;
using launch_scripts::made_up_host_names;
using launch_scripts::slurm_option_rules;
using launch_scripts::split_options;
using launch_scripts::split_shell_words;
using launch_scripts::SplitCommandOptions;

}  // namespace stepwright::capture
