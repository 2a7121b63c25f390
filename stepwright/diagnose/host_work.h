#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::diagnose {

/// Work of a host that one rank may do while the others wait.
enum class HostWork : std::uint8_t { kPreparing, kCheckpoint, kEvaluation };

/// A line of a log about such work.
struct HostWorkLine {
  HostWork work{};
  std::string file;
  std::int64_t line = 0;
  std::string text;
};

/// The work that a line is about, by its words or as a bar of progress of anything but steps;
/// nullopt: none.
std::optional<HostWork> host_work_of(std::string_view line);

/// "prepares data or a model".
std::string_view host_work_text(HostWork work);

}  // namespace stepwright::diagnose
