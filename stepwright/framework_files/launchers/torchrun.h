#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/launchers/started.h"

namespace stepwright::framework_files {

/// Returns lines as comments: "# ...".
std::string comment_lines(const std::vector<std::string>& lines);

/// The head of a script that starts ranks with torchrun: comments, settings and, as NODES,
/// DEVICES_PER_NODE and MASTER_..., where the ranks are.
std::string script_head(const plan::PlannedJob& planned, const std::vector<std::string>& header,
                        const std::string& settings);

/// The words `torchrun ... ` up to the program, on lines of their own.
std::string torchrun_lines();

/// Whether a command is started by a program that starts several processes.
bool has_launcher(const StartedCommand& command);

/// Takes numbers of nodes and processes from the words of launchers and from the batch job. Fails
/// with `kInput` where more processes start on a node than devices are visible.
void read_launcher(const StartedCommand& command, JobExtent& extent, ImportReport& report);

/// Lists the extents that a command leaves open and nobody says, once ranks are settled: one node,
/// or all devices of a node, were taken.
void list_open_extents(const StartedCommand& command, const JobExtent& extent,
                       ImportReport& report);

/// A variable of a command's environment that is a positive number.
std::optional<std::int64_t> environment_number(const StartedCommand& command,
                                               const std::string& name);

/// The devices of a node that `CUDA_VISIBLE_DEVICES` leaves to a command; nullopt: it lists none.
std::optional<std::int64_t> visible_device_count(const StartedCommand& command);

/// The ranks that a program starts itself by torchrun, where no launcher says them: `NNODES` nodes,
/// else one, of `NPROC_PER_NODE` devices.
void read_own_processes(const StartedCommand& command, JobExtent& extent, ImportReport& report);

}  // namespace stepwright::framework_files
