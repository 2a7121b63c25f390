#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::diagnose {

/// Work of one rank's host during which the other ranks wait.
enum class HostWork : std::uint8_t { kPreparing, kCheckpoint, kEvaluation };

/// A log line about work of the host.
struct HostWorkLine {
  HostWork work{};
  std::string file;
  std::int64_t line = 0;
  std::string text;
};

/// Recognises a line about work of the host, by its words or as a progress bar of something other
/// than training steps; nullopt: it is another line.
std::optional<HostWork> host_work_of(std::string_view line);

/// Describes work of the host: "prepares data or a model".
std::string_view host_work_text(HostWork work);

}  // namespace stepwright::diagnose
