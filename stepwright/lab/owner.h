#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::lab {

/// A process, identified by its number (PID) and its start time, because the system reuses numbers.
struct ProcessIdentity {
  pid_t pid = 0;
  /// Start time of the process, in clock ticks since the machine started.
  std::uint64_t start = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of the process with this PID; nullopt if there is none, or only a zombie.
std::optional<ProcessIdentity> find_process_identity(pid_t pid);

/// Returns the name of an emulated cluster: `stepwright-PID-START-NUMBER`, from its process's PID
/// and start time and a number.
std::string emulated_cluster_name(const ProcessIdentity& owner, int number);

/// Returns the process that made a network namespace, from the namespace's name; nullopt if it
/// belongs to no emulated cluster.
std::optional<ProcessIdentity> network_namespace_owner(std::string_view name);

}  // namespace stepwright::lab
