#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::launch_scripts {

/// A command, or a line of scheduler options, split into words.
using BatchWords = std::vector<std::string>;

/// The nodes and devices that a batch job requests with its options.
struct BatchJobAllocation {
  std::string scheduler;  ///< Scheduler of the job: "slurm", "pbs", "lsf" or "sge".
  std::int64_t id = 0;    ///< Identifier of the batch job, a number that its scheduler assigned.
  std::string name;       ///< Name of the batch job; empty: the name of the script.
  /// Number of nodes of the batch job, or of the job step that srun starts; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Number of nodes of the whole job, if `nodes` counts the nodes of one srun step; nullopt: not
  /// stated.
  std::optional<std::int64_t> job_nodes;
  /// Number of devices of each node; nullopt: the batch job's options do not state it.
  std::optional<std::int64_t> devices_per_node;
  /// Number of devices of all nodes together, if the batch job's options state no number of nodes;
  /// nullopt: not stated.
  std::optional<std::int64_t> devices;
  /// Number of tasks (processes) on all nodes together; nullopt: the batch job's options do not
  /// state it.
  std::optional<std::int64_t> tasks;
  std::optional<std::int64_t> tasks_per_node;
  std::optional<std::int64_t> cpus_per_task;
  std::optional<std::int64_t> devices_per_task;
  std::string array;  ///< Indices of a job array: "0-3,7"; empty: no array.
  /// Options of the batch job as they were written: those of the script first, those of the command
  /// line last.
  BatchWords options;
};

/// Returns the option syntax of sbatch, salloc and srun: which options take no value.
CommandOptionRules slurm_option_rules();

/// Sets nodes, devices and tasks of an allocation from the options of a Slurm command; they
/// override what the allocation held before.
void apply_slurm_options(std::span<const GivenCommandOption> options,
                         BatchJobAllocation& allocation);

/// Returns the scheduler of a program that submits batch jobs ("sbatch", "salloc", "qsub", "bsub");
/// empty if the program submits none. The options decide whether `qsub` is Grid Engine's or that of
/// PBS.
std::string_view scheduler_of_submission_program(std::string_view program,
                                                 const BatchWords& options);

/// Returns the nodes and devices that `#SBATCH`, `#PBS`, `#BSUB` and `#$` lines of a script
/// request; nullopt if the text has no such lines. As in Slurm, reading ends at the first line that
/// is not a comment.
std::optional<BatchJobAllocation> allocation_from_directives(std::string_view text);

/// Sets nodes, devices and tasks of an allocation from the options in `words`, a command line
/// without its program, in the syntax of `allocation.scheduler`. Returns the index of the first
/// word that is not an option; `split`, if not null, receives the options.
std::size_t apply_batch_scheduler_options(const BatchWords& words, BatchJobAllocation& allocation,
                                          SplitCommandOptions* split = nullptr);

/// Splits a line into words as a shell does, without expansions.
BatchWords split_shell_words(std::string_view line);

}  // namespace stepwright::launch_scripts
