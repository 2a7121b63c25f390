#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Stand-ins record events in one file of the capture's folder, one line of JSON each. A lock on
/// the file keeps the lines of several processes apart.

/// Appends a recorded launch to the events of a capture.
void append_launch(const std::filesystem::path& folder, const CapturedCommand& command);

/// Kinds of events that consist of a text.
inline constexpr std::string_view kRanEvent = "ran";
inline constexpr std::string_view kNotRunEvent = "not_run";
inline constexpr std::string_view kNoteEvent = "note";
inline constexpr std::string_view kErrorEvent = "error";

/// Appends an event of a kind, with its text, to the events of a capture.
void append_text_event(const std::filesystem::path& folder, std::string_view kind,
                       std::string_view text);

/// Appends an error to the events and asks the capture to stop.
void append_error(const std::filesystem::path& folder, std::string_view text);

/// True if a stand-in asked the capture to stop.
bool is_capture_stopped(const std::filesystem::path& folder);

/// All events of a capture; equal texts of a kind are kept once.
struct CaptureEvents {
  CaptureResult captured;  ///< Commands in the order of events, not merged.
  std::string error;       ///< Message of the error that stops the capture; empty: none.
};

/// Reads all events in a folder. An incomplete last line is ignored.
CaptureEvents read_capture_events(const std::filesystem::path& folder);

}  // namespace stepwright::capture
