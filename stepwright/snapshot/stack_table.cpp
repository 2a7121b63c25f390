#include "stepwright/snapshot/stack_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepwright::snapshot {
namespace {

constexpr std::size_t kMostStacks = std::size_t{4} << 20;
constexpr std::size_t kShownFrames = 8;

/// Functions and files of the interpreter and of PyTorch's own recording, which people are not
/// shown. Source: pytorch 2.13 torch/cuda/_memory_viz.py, _frame_filter.
constexpr std::string_view kRecordingWords[] = {"unwind::unwind",    "CapturedTraceback::gather",
                                                "gather_with_cpp",   "_start",
                                                "__libc_start_main", "PyEval_",
                                                "PyObject_",         "PyFunction_",
                                                "core/boxing",       "/Register",
                                                "/Redispatch",       "pythonrun.c",
                                                "Modules/main.c",    "Objects/call.c",
                                                "methodobject.c",    "pycore_ceval.h",
                                                "ceval.c",           "cpython/abstract.h"};

/// Returns the last two parts of a path.
std::string_view short_path(std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos || last == 0) return path;
  const std::size_t before = path.rfind('/', last - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

}  // namespace

FrameId CallStackTable::frame(const CallStackFrame& frame) {
  std::string text = frame.file.empty() || frame.file == "??"
                         ? std::string(frame.name)
                         : fmt::format("{}:{} {}", short_path(frame.file), frame.line, frame.name);
  const auto [found, fresh] =
      known_frames_.emplace(std::move(text), static_cast<FrameId>(frames_.size() + 1));
  if (fresh) frames_.push_back(&found->first);
  return found->second;
}

StackId CallStackTable::store_call_stack(std::span<const FrameId> frames) {
  if (frames.empty()) return 0;
  const std::vector<FrameId> key(frames.begin(), frames.end());
  if (stacks_.size() >= kMostStacks && !known_stacks_.contains(key)) return 0;
  const auto [found, fresh] = known_stacks_.emplace(key, static_cast<StackId>(stacks_.size() + 1));
  if (fresh) stacks_.push_back(&found->first);
  return found->second;
}

std::span<const FrameId> CallStackTable::frames(StackId stack) const {
  if (stack == 0) return {};
  return *stacks_[stack - 1];
}

std::vector<std::string> call_stack_frames_to_show(const CallStackTable& table, StackId stack) {
  std::vector<std::string> python, all;
  for (const FrameId frame : table.frames(stack)) {
    const std::string_view text = table.text(frame);
    const auto in_text = [&](std::string_view word) { return text.find(word) != text.npos; };
    if (std::ranges::any_of(kRecordingWords, in_text)) continue;
    if (in_text(".py:") && python.size() < kShownFrames) python.emplace_back(text);
    if (all.size() < kShownFrames) all.emplace_back(text);
  }
  return python.empty() ? all : python;
}

}  // namespace stepwright::snapshot
