#include "stepwright/cli/progress_line.h"

#include <ostream>

namespace stepwright {
namespace {

/// Back to the first column, and everything after it gone.
constexpr std::string_view kClear = "\r\x1b[K";

}  // namespace

ProgressLine::~ProgressLine() {
  if (shown_) *terminal_ << kClear << std::flush;
}

void ProgressLine::show(std::string_view text) {
  if (terminal_ == nullptr) return;
  *terminal_ << kClear << text << std::flush;
  shown_ = true;
}

}  // namespace stepwright
