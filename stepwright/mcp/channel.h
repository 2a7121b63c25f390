#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/descriptor.h"

namespace stepwright::mcp {

/// Reads and writes lines on standard input and output, and keeps the rest of the program away from
/// both: meanwhile `/dev/stdin` is empty, and other output goes to standard error.
class StandardStreamsChannel {
 public:
  /// Takes over standard input and output. Fails with `kRuntime` if the system refuses.
  StandardStreamsChannel();
  /// Gives standard input and output back to the program.
  ~StandardStreamsChannel();
  StandardStreamsChannel(const StandardStreamsChannel&) = delete;
  StandardStreamsChannel& operator=(const StandardStreamsChannel&) = delete;

  /// Waits for the next line and returns it without its end; nullopt: the other side has closed the
  /// stream, or a line was longer than `kMaxMcpLineBytes`.
  std::optional<std::string> wait_for_next_line();
  /// Writes a line. Returns false if the other side has stopped reading.
  bool write_line(std::string_view line);

  /// Longest line in bytes that is accepted: enough for a job or plan inside a message.
  static constexpr std::size_t kMaxMcpLineBytes = std::size_t{80} << 20U;

 private:
  FileDescriptor in_;
  FileDescriptor out_;
  std::string begun_;  ///< Bytes already read that belong to the next line.
};

}  // namespace stepwright::mcp
