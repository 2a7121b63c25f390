#include "stepwright/diagnose/traceback.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

/// The most frames of a traceback that are kept, innermost last.
constexpr std::size_t kMostFrames = 100;

}  // namespace

PythonTracebackReader::TracebackLineKind PythonTracebackReader::read_traceback_log_line(
    std::string_view line) {
  if (line.starts_with("Traceback (most recent call last)")) {
    *this = {};
    open_ = true;
    return TracebackLineKind::kInside;
  }
  if (!open_) return TracebackLineKind::kNone;
  if (line.starts_with("  File \"")) {
    read_frame(line);
    return TracebackLineKind::kInside;
  }
  if (line.empty() || line.front() == ' ' || line.front() == '\t') {
    if (!stack_.empty() && stack_.back().find(' ') == std::string::npos) {
      stack_.back() += " " + line_start_for_quoting(
                                 line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
    }
    return TracebackLineKind::kInside;
  }
  open_ = false;
  return TracebackLineKind::kError;
}

void PythonTracebackReader::read_frame(std::string_view line) {
  const std::string_view path = text_between(line, "  File \"", "\"");
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  std::string_view function = text_after(line, ", in ");
  function = function.substr(0, function.find_first_of("\r\n"));
  if (line_contains_text(path, "/torch/distributed/") && function != "wrapper")
    function_ = function;
  if (!is_installed_library_file(path)) {
    frame_ =
        fmt::format("{}:{} in {}", name, whole_number_at_text_start(text_after(line, "\", line ")),
                    function.empty() ? "<module>" : function);
  }
  if (stack_.size() == kMostFrames) stack_.erase(stack_.begin());
  stack_.push_back(
      fmt::format("{}:{}", line_start_for_quoting(name), line_start_for_quoting(function)));
}

}  // namespace stepwright::diagnose
