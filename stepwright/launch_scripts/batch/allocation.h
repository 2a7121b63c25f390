#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::launch_scripts {

/// The words of a command or of an option line, as texts.
using BatchWords = std::vector<std::string>;

/// The nodes and devices of a batch job, as far as its options say them.
struct Allocation {
  std::string scheduler;              ///< "slurm", "pbs", "lsf" or "sge".
  std::int64_t id = 0;                ///< Number of the job.
  std::string name;                   ///< Empty: the name of the script.
  std::optional<std::int64_t> nodes;  ///< nullopt: the options do not say.
  /// Nodes of the whole job; `nodes` may be of a step.
  std::optional<std::int64_t> job_nodes;
  std::optional<std::int64_t> devices_per_node;  ///< nullopt: the options do not say.
  /// Devices of all nodes, where nothing says how many nodes there are.
  std::optional<std::int64_t> devices;
  std::optional<std::int64_t> tasks;  ///< Tasks of all nodes.
  std::optional<std::int64_t> tasks_per_node;
  std::optional<std::int64_t> cpus_per_task;
  std::string array;   ///< Indices of a job array: "0-3,7"; empty: no array.
  BatchWords options;  ///< As they were written; those of the command line last.
};

/// How sbatch, salloc and srun read their options.
OptionRules slurm_rules();

/// Adds the options of a Slurm command to an allocation; they override what it says.
void apply_slurm(std::span<const Option> options, Allocation& allocation);

/// Returns the scheduler of a program that submits batch jobs ("sbatch", "salloc", "qsub", "bsub");
/// empty: the program submits none. Grid Engine's `qsub` is told from that of PBS by its options.
std::string_view submission_scheduler(std::string_view program, const BatchWords& options);

/// Returns the allocation that `#SBATCH`, `#PBS`, `#BSUB` and `#$` lines ask for; nullopt: the text
/// has none. As Slurm does, reading ends at the first line that is no comment.
std::optional<Allocation> directives_of(std::string_view text);

/// Adds the option words of a scheduler's command line (without the program) to an allocation and
/// returns the place of the first word that is no option. `allocation.scheduler` says how to read.
std::size_t apply_words(const BatchWords& words, Allocation& allocation,
                        SplitCommand* split = nullptr);

/// Splits a line in words as a shell does, without expansions.
BatchWords split_quoted(std::string_view line);

}  // namespace stepwright::launch_scripts
