#pragma once

#include <iosfwd>
#include <string_view>

namespace stepwright {

/// One line on a terminal that is written over and over and leaves no trace. Without a terminal
/// (null) it says nothing.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream* terminal) : terminal_(terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view text);

 private:
  std::ostream* terminal_;
  bool shown_ = false;
};

}  // namespace stepwright
