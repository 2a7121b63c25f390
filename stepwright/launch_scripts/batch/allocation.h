#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/launch_scripts/batch/option_words.h"

namespace stepwright::launch_scripts {

/// Words of a command, or of a line of options, as texts.
using BatchWords = std::vector<std::string>;

/// The nodes and devices that a batch job requests with its options.
struct Allocation {
  std::string scheduler;  ///< Scheduler of the job: "slurm", "pbs", "lsf" or "sge".
  std::int64_t id = 0;    ///< Number that the scheduler gave the job.
  std::string name;       ///< Name of the job; empty: the name of the script.
  /// Nodes of the job, or of the job step that srun starts; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Nodes of the whole job, if `nodes` is of a step; nullopt: not stated.
  std::optional<std::int64_t> job_nodes;
  /// Devices of each node; nullopt: the options do not state them.
  std::optional<std::int64_t> devices_per_node;
  /// Devices of all nodes together, if the number of nodes is not stated.
  std::optional<std::int64_t> devices;
  /// Tasks of all nodes together; nullopt: the options do not state them.
  std::optional<std::int64_t> tasks;
  std::optional<std::int64_t> tasks_per_node;
  std::optional<std::int64_t> cpus_per_task;
  std::string array;   ///< Indices of a job array: "0-3,7"; empty: no array.
  BatchWords options;  ///< Options as they were written; options of the command line come last.
};

/// Returns how sbatch, salloc and srun read their options.
OptionRules slurm_rules();

/// Adds the options of a Slurm command to an allocation; they override options from before.
void apply_slurm(std::span<const Option> options, Allocation& allocation);

/// Returns the scheduler of a program that submits batch jobs ("sbatch", "salloc", "qsub", "bsub");
/// empty if the program submits none. The options decide whether `qsub` is Grid Engine's or that of
/// PBS.
std::string_view submission_scheduler(std::string_view program, const BatchWords& options);

/// Returns the allocation that `#SBATCH`, `#PBS`, `#BSUB` and `#$` lines request; nullopt if the
/// text has none. As in Slurm, reading ends at the first line that is not a comment.
std::optional<Allocation> directives_of(std::string_view text);

/// Adds the option words of a scheduler's command line (without the program) to an allocation, by
/// the rules of `allocation.scheduler`. Returns the index of the first word that is not an option;
/// `split`, if given, receives the options.
std::size_t apply_words(const BatchWords& words, Allocation& allocation,
                        SplitCommand* split = nullptr);

/// Splits a line into words as a shell does, without expansions.
BatchWords split_quoted(std::string_view line);

}  // namespace stepwright::launch_scripts
