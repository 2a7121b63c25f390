#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// A traceback of Python that is being read line by line.
class Traceback {
 public:
  /// Parts of a traceback that a line can be.
  enum class Part { kNone, kInside, kError };

  /// Reads the next line of the rank. kError: the line is the exception at its end.
  Part read(std::string_view line);

  /// Innermost frame of the person's own program: "train.py:41 in step"; empty: none.
  [[nodiscard]] const std::string& frame() const { return frame_; }
  /// Innermost function of torch.distributed; empty: none.
  [[nodiscard]] const std::string& function() const { return function_; }
  /// Names of files and functions with the lines of code below them, outermost first:
  /// "trainer.py:evaluation_loop logits = nested_concat(...)".
  [[nodiscard]] const std::vector<std::string>& stack() const { return stack_; }

 private:
  void read_frame(std::string_view line);

  bool open_ = false;
  std::string frame_;
  std::string function_;
  std::vector<std::string> stack_;
};

}  // namespace stepwright::diagnose
