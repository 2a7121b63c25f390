#include "stepwright/cli/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>

#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

/// Moves the cursor to the first column and erases the line.
constexpr std::string_view kClear = "\r\x1b[K";

/// The most bytes of a text that are shown, more than a terminal line has.
constexpr std::size_t kLongestShown = 1000;

/// Formats a duration roughly: "48 s", "3 min", "2.5 h".
std::string about(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", std::ceil(seconds / kMinute));
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace

ProgressLine::~ProgressLine() {
  if (shown_) *terminal_ << kClear << std::flush;
}

void ProgressLine::show_progress(std::string_view text) {
  if (terminal_ == nullptr) return;
  *terminal_ << kClear << one_line_printable_text(text, kLongestShown) << std::flush;
  shown_ = true;
}

void ProgressLine::show_progress(std::string_view text, std::size_t done, std::size_t most) {
  const auto now = std::chrono::steady_clock::now();
  if (done < done_) began_ = now;
  done_ = done;
  const double elapsed_s = std::chrono::duration<double>(now - began_).count();
  if (elapsed_s < 1 || done == 0 || done >= most) return show_progress(text);
  const double left_s = elapsed_s * static_cast<double>(most - done) / static_cast<double>(done);
  show_progress(fmt::format("{}, at most {} left", text, about(left_s)));
}

}  // namespace stepwright::cli
