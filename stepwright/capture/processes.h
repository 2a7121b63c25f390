#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace stepwright::capture {

/// Returns the processes below a process: its children, theirs, and so on. Processes that ended but
/// that nobody waited for are left out.
std::vector<pid_t> descendants_of(pid_t root);

/// Returns the processes whose environment names the folder of a capture; without this process.
std::vector<pid_t> processes_of(const std::filesystem::path& folder);

/// Sends a signal to each of some processes.
void signal_all(const std::vector<pid_t>& processes, int signal);

/// Opens /dev/null in place of standard input, output and error where they are closed; the next
/// file that is opened would stand in their place.
void open_standard_descriptors();

/// Returns the exit code of a shell for a status of waitpid: 128 plus the signal that ended it.
int exit_code_of(int status);

}  // namespace stepwright::capture
