#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// Reads a Python traceback line by line.
class Traceback {
 public:
  /// Role of a line: outside of a traceback, inside one, or the exception at its end.
  enum class Part { kNone, kInside, kError };

  /// Reads the next line of the rank; kError: the line is the exception that ends the traceback.
  Part read(std::string_view line);

  /// Returns the innermost frame of the user's own program: "train.py:41 in step"; empty: none.
  [[nodiscard]] const std::string& frame() const { return frame_; }
  /// Returns the innermost function of torch.distributed; empty: none.
  [[nodiscard]] const std::string& function() const { return function_; }
  /// Returns file and function of each frame with its line of code, outermost first:
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
