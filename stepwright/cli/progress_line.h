#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace stepwright::cli {

/// A line on the terminal that shows progress. It is overwritten in place and erased at the end.
/// Without a terminal (null), nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream* terminal) : terminal_(terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show_progress(std::string_view text);

  /// Shows a text and how much time is left at most, if the work goes on at the same speed. `done`
  /// of `most` parts are done. The estimate appears after one second and starts anew if `done`
  /// falls.
  void show_progress(std::string_view text, std::size_t done, std::size_t most);

 private:
  std::ostream* terminal_;
  bool shown_ = false;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace stepwright::cli
