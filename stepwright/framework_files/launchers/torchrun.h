#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Returns lines in the form of shell comments: "# ...".
std::string shell_comment_lines(const std::vector<std::string>& lines);

/// Returns the first lines of a shell script that uses torchrun: comments, NODES, DEVICES_PER_NODE,
/// NODE_RANK, MASTER_ADDR and MASTER_PORT, then `settings` (shell lines that set environment
/// variables).
std::string torchrun_script_head(const plan::PlannedJob& planned,
                                 const std::vector<std::string>& header,
                                 const std::string& settings);

/// Returns the shell text of a torchrun command up to the program: `torchrun` with its options for
/// nodes, processes and master.
std::string torchrun_command_lines();

/// True if a command uses a launcher that starts several processes: mpirun, torchrun, accelerate,
/// deepspeed or srun.
bool uses_process_launcher(const StartedCommand& command);

/// Reads the numbers of nodes and processes of a command from its launchers' options and from the
/// batch job's allocation. Fails with `kInput` if more processes start on a node than
/// CUDA_VISIBLE_DEVICES lists devices.
void read_launcher_rank_counts(const StartedCommand& command, JobRankCounts& extent,
                               ImportReport& report);

/// Reports the numbers of nodes or devices whose values the script leaves open, unless the user
/// states the cluster's size. Call it after the number of ranks has been determined.
void report_unknown_rank_counts(const StartedCommand& command, const JobRankCounts& extent,
                                ImportReport& report);

/// Returns the value of a command's environment variable if it is a positive integer, else nullopt.
std::optional<std::int64_t> positive_environment_number(const StartedCommand& command,
                                                        const std::string& name);

/// Returns the number of devices in a value of `CUDA_VISIBLE_DEVICES`; nullopt if it is not a list
/// of devices.
std::optional<std::int64_t> cuda_visible_device_count(std::string_view list);
/// Returns the number of devices in a command's `CUDA_VISIBLE_DEVICES`; nullopt if the variable is
/// not set or not a list of devices.
std::optional<std::int64_t> cuda_visible_device_count(const StartedCommand& command);

/// Reads the number of ranks for a program that starts the processes of its node itself: from its
/// launcher, from the environment variables NNODES and NPROC_PER_NODE, or from the batch job. One
/// node if nothing states the number.
void read_rank_counts_without_launcher(const StartedCommand& command, JobRankCounts& extent,
                                       ImportReport& report);

}  // namespace stepwright::framework_files
