#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/descriptor.h"

namespace stepwright::mcp {

/// Exchanges lines over standard input and output, and keeps all other code of the program from
/// using these streams meanwhile: the file `/dev/stdin` is then empty, and output to standard
/// output goes to standard error.
class Channel {
 public:
  /// Takes over both streams. Fails with `kRuntime` if the system refuses.
  Channel();
  /// Restores standard input and output.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Waits for the next line and returns it without its end; nullopt: the other side has closed the
  /// stream, or a line was longer than `kMostBytes`.
  std::optional<std::string> next();
  /// Writes a line. Returns false if the other side has stopped reading.
  bool send(std::string_view line);

  /// The most bytes of a line: enough for a job or plan inside a message.
  static constexpr std::size_t kMostBytes = std::size_t{80} << 20U;

 private:
  Descriptor in_;
  Descriptor out_;
  std::string begun_;  ///< Bytes read after the end of the last line.
};

}  // namespace stepwright::mcp
