#pragma once

#include "stepwright/launch_scripts/batch/allocation.h"
#include "stepwright/launch_scripts/batch/host_list.h"
#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::capture {

// Names from `launch_scripts/batch/` that this folder uses often.

using launch_scripts::allocation_from_directives;
using launch_scripts::apply_batch_scheduler_options;
using launch_scripts::apply_slurm_options;
using launch_scripts::BatchJobAllocation;
using launch_scripts::CommandOptionRules;
using launch_scripts::expand_slurm_host_list;
using launch_scripts::GivenCommandOption;
using launch_scripts::last_option_value;
using launch_scripts::placeholder_host_list;
using launch_scripts::placeholder_host_names;
using launch_scripts::slurm_option_rules;
using launch_scripts::split_command_options;
using launch_scripts::split_shell_words;
using launch_scripts::SplitCommandOptions;
using launch_scripts::word_list_contains;

}  // namespace stepwright::capture
