#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepwright::diagnose {

/// Work that one rank may be doing on its host while the other ranks wait in a call.
enum class PossibleHostWork : std::uint8_t { kPreparing, kCheckpoint, kEvaluation };

/// A log line that says what a rank does on its host, such as writing a checkpoint.
struct HostWorkLogLine {
  PossibleHostWork work{};
  std::string file;
  std::int64_t line = 0;
  std::string text;
};

/// Recognises a log line about work on the host, by words such as those for checkpoints, or by a
/// progress bar that does not count training steps; nullopt: another line.
std::optional<PossibleHostWork> parse_host_work_line(std::string_view line);

/// Returns what a rank does on its host, as text: "writes a checkpoint".
std::string_view host_work_text(PossibleHostWork work);

}  // namespace stepwright::diagnose
