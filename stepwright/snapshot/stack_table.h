#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepwright::snapshot {

/// Number of a call stack in a `CallStackTable`; 0: a stack without frames.
using StackId = std::uint32_t;
using FrameId = std::uint32_t;

/// A frame of a call stack, as in a memory snapshot: file, line and function.
struct CallStackFrame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view name;
};

/// The call stacks of a memory snapshot, innermost frame first, each stored once.
class CallStackTable {
 public:
  CallStackTable() = default;
  CallStackTable(CallStackTable&&) = default;
  CallStackTable& operator=(CallStackTable&&) = default;

  FrameId frame(const CallStackFrame& frame);
  /// Stores a call stack and returns its number. After 4 Mi different stacks, further ones count as
  /// one without frames.
  StackId store_call_stack(std::span<const FrameId> frames);

  /// Returns the text of a frame: "train.py:88 forward".
  [[nodiscard]] std::string_view text(FrameId frame) const { return *frames_[frame - 1]; }
  [[nodiscard]] std::span<const FrameId> frames(StackId stack) const;

 private:
  std::unordered_map<std::string, FrameId> known_frames_;
  std::vector<const std::string*> frames_;
  std::map<std::vector<FrameId>, StackId> known_stacks_;
  std::vector<const std::vector<FrameId>*> stacks_;
};

/// Returns at most eight frames of a call stack to show to the user: those of Python if there are
/// any, without PyTorch's own recording code.
std::vector<std::string> call_stack_frames_to_show(const CallStackTable& table, StackId stack);

}  // namespace stepwright::snapshot
