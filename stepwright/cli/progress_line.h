#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace stepwright::cli {

/// A terminal line that shows progress: it is overwritten in place and erased at the end. Null
/// terminal: nothing is shown.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream* terminal) : terminal_(terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);

  /// Shows the text with an estimate of the remaining time, at most, at the present speed: `done`
  /// of `most` parts are done. The estimate appears after the first second; a smaller `done` than
  /// before restarts it.
  void show(std::string_view text, std::size_t done, std::size_t most);

 private:
  std::ostream* terminal_;
  bool shown_ = false;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace stepwright::cli
