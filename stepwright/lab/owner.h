#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::lab {

/// A process, identified by its number and its start time, since numbers are reused.
struct ProcessIdentity {
  pid_t pid = 0;
  /// Start time of the process, in clock ticks since the machine started.
  std::uint64_t start = 0;

  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the process with this number; nullopt if there is none, or only a zombie.
std::optional<ProcessIdentity> find_process_identity(pid_t pid);

/// Returns the name of a lab: `stepwright-PID-START-NUMBER`.
std::string lab_name(const ProcessIdentity& owner, int number);

/// Returns the process that owns a namespace, by its name; nullopt if it belongs to no lab.
std::optional<ProcessIdentity> namespace_owner(std::string_view name);

}  // namespace stepwright::lab
