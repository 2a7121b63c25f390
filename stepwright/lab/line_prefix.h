#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace stepwright::lab {

/// Writes text that arrives in pieces line by line, each line after a prefix. A line of more than
/// `kLongestLine` bytes is split there.
class PrefixedLineWriter {
 public:
  explicit PrefixedLineWriter(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Adds a piece of text that arrived, and writes the lines that are now complete to `out`.
  void add(std::string_view piece, std::ostream& out);
  /// Writes the rest of the text, which has no line end, as a line.
  void finish(std::ostream& out);

  static constexpr std::size_t kLongestLine = std::size_t{1} << 20U;

 private:
  std::string prefix_;
  std::string pending_;
};

}  // namespace stepwright::lab
