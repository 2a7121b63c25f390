#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::lab {

/// A process, told from later ones with the same number by when it began.
struct Owner {
  pid_t pid = 0;
  std::uint64_t start = 0;  ///< Clock ticks since the machine started.

  bool operator==(const Owner&) const = default;
};

/// The process with this number; nullopt if there is none (a zombie is none).
std::optional<Owner> find_owner(pid_t pid);

/// The name of a lab: `stepwright-PID-START-NUMBER`.
std::string lab_name(const Owner& owner, int number);

/// Who owns a namespace, by its name; nullopt if it is none of a lab.
std::optional<Owner> owner_of(std::string_view name);

}  // namespace stepwright::lab
