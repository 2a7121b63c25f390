#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace stepwright::lab {

/// Writes text that arrives in pieces as whole lines that begin with a prefix. A line of more than
/// `kLongestLine` bytes is cut there.
class LinePrefix {
 public:
  explicit LinePrefix(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Adds a piece, and writes the lines that it completes.
  void add(std::string_view piece, std::ostream& out);
  /// Writes the remaining text as a line.
  void finish(std::ostream& out);

  static constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

 private:
  std::string prefix_;
  std::string pending_;
};

}  // namespace stepwright::lab
