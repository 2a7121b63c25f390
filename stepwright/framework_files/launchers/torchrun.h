#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Returns lines in the form of shell comments: "# ...".
std::string comment_lines(const std::vector<std::string>& lines);

/// Returns the head of a script that starts ranks with torchrun: comments, variables that the job
/// needs, and the ranks' position as NODES, DEVICES_PER_NODE and MASTER_... variables.
std::string script_head(const plan::PlannedJob& planned, const std::vector<std::string>& header,
                        const std::string& settings);

/// Returns the words from `torchrun` up to the program, each option on a line of its own.
std::string torchrun_lines();

/// True if a launcher that starts several processes starts the command.
bool has_launcher(const StartedCommand& command);

/// Reads the numbers of nodes and processes from the launchers' words and the batch job. Fails with
/// `kInput` if more processes start on a node than devices are visible.
void read_launcher(const StartedCommand& command, JobExtent& extent, ImportReport& report);

/// Lists the sizes that neither a command nor the user states, after ranks are settled: one node,
/// or all devices of a node, were assumed.
void list_open_extents(const StartedCommand& command, const JobExtent& extent,
                       ImportReport& report);

/// Returns a variable of a command's environment as a positive number; nullopt if it is none.
std::optional<std::int64_t> environment_number(const StartedCommand& command,
                                               const std::string& name);

/// Returns the number of devices that `CUDA_VISIBLE_DEVICES` lists; nullopt if it lists none.
std::optional<std::int64_t> visible_device_count(const StartedCommand& command);

/// Reads the ranks that a program starts itself by torchrun, if no launcher states them: `NNODES`
/// nodes, else one, each with `NPROC_PER_NODE` devices.
void read_own_processes(const StartedCommand& command, JobExtent& extent, ImportReport& report);

}  // namespace stepwright::framework_files
