#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace stepwright::cli {

/// One line on a terminal that is written over and over and leaves no trace. Without a terminal
/// (null) it says nothing.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream* terminal) : terminal_(terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);

  /// Shows the text with the time that the rest takes at most if it goes on as it went: `done` of
  /// `most` parts are done. It is said when a second has shown how it goes; fewer parts than before
  /// begin anew.
  void show(std::string_view text, std::size_t done, std::size_t most);

 private:
  std::ostream* terminal_;
  bool shown_ = false;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace stepwright::cli
