#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/descriptor.h"

namespace stepwright::mcp {

/// Lines on standard input and output, which nothing else of the program can reach while it lives:
/// a file named `/dev/stdin` is empty, and what goes to standard output goes to standard error.
class Channel {
 public:
  /// Takes both streams. Fails with `kRuntime` when the system does not give them.
  Channel();
  /// Gives both streams back.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Waits for the next line and returns it without its end; nullopt when the other side has gone,
  /// and after a line of more than `kMostBytes`.
  std::optional<std::string> next();
  /// Writes a line; false if nobody reads any more.
  bool send(std::string_view line);

  /// The longest line: a job or a plan in memory, and what goes around it.
  static constexpr std::size_t kMostBytes = std::size_t{80} << 20U;

 private:
  Descriptor in_;
  Descriptor out_;
  std::string begun_;  ///< Bytes read behind the last line.
};

}  // namespace stepwright::mcp
