#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepwright::snapshot {

/// A number in one of the tables of `StackTable`; 0: no frames.
using StackId = std::uint32_t;
using FrameId = std::uint32_t;

/// A frame of a stack, as in a snapshot.
struct Frame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view name;
};

/// The stacks of a snapshot, innermost frame first, each stored once.
class StackTable {
 public:
  StackTable() = default;
  StackTable(StackTable&&) = default;
  StackTable& operator=(StackTable&&) = default;

  FrameId frame(const Frame& frame);
  /// Returns the number of a stack. After 4 Mi different stacks, further ones count as one without
  /// frames.
  StackId stack(std::span<const FrameId> frames);

  /// Returns the text of a frame: "train.py:88 forward".
  [[nodiscard]] std::string_view text(FrameId frame) const { return *frames_[frame - 1]; }
  [[nodiscard]] std::span<const FrameId> frames(StackId stack) const;

 private:
  std::unordered_map<std::string, FrameId> known_frames_;
  std::vector<const std::string*> frames_;
  std::map<std::vector<FrameId>, StackId> known_stacks_;
  std::vector<const std::vector<FrameId>*> stacks_;
};

/// Returns the frames of a stack that people are shown, at most eight: those of Python if there are
/// any, without PyTorch's own recording.
std::vector<std::string> shown_frames(const StackTable& table, StackId stack);

}  // namespace stepwright::snapshot
