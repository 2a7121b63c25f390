#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwright::diagnose {

/// Reads a rank's Python traceback line by line.
class PythonTracebackReader {
 public:
  /// Role of a log line: outside of a traceback, inside one, or the exception that ends one.
  enum class TracebackLineKind { kNone, kInside, kError };

  /// Reads the next log line of the rank. Returns kError if the line is the exception that ends a
  /// traceback.
  TracebackLineKind read_traceback_log_line(std::string_view line);

  /// Returns the innermost line of the user's own program in the traceback: "train.py:41 in step";
  /// empty: none.
  [[nodiscard]] const std::string& innermost_user_line() const { return frame_; }
  /// Returns the innermost function of torch.distributed in the traceback; empty: none.
  [[nodiscard]] const std::string& innermost_torch_distributed_function() const {
    return function_;
  }
  /// Returns file, function and code of each frame of the traceback, outermost first:
  /// "trainer.py:evaluation_loop logits = nested_concat(...)".
  [[nodiscard]] const std::vector<std::string>& traceback_frames() const { return stack_; }

 private:
  void read_frame(std::string_view line);

  bool open_ = false;
  std::string frame_;
  std::string function_;
  std::vector<std::string> stack_;
};

}  // namespace stepwright::diagnose
