#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

// Stand-ins record events in one file of the capture's folder, one line of JSON each. A lock on
// the file keeps the lines of several processes apart.

/// Appends a recorded launch command to the file of events in a capture's folder.
void append_captured_launch_event(const std::filesystem::path& folder,
                                  const CapturedLaunchCommand& command);

/// Kinds of events that consist of one text: a launcher that ran for real ("ran"), a skipped
/// command ("not_run"), a note, an error.
inline constexpr std::string_view kLauncherRanCaptureEvent = "ran";
inline constexpr std::string_view kNotRunEvent = "not_run";
inline constexpr std::string_view kNoteEvent = "note";
inline constexpr std::string_view kErrorEvent = "error";

/// Appends a text event (`kLauncherRanCaptureEvent`, `kNoteEvent`, ...) to the file of events in a
/// capture's folder.
void append_capture_text_event(const std::filesystem::path& folder, std::string_view kind,
                               std::string_view text);

/// Appends an error to the file of events in a capture's folder; the capture then stops the script.
void append_capture_error_event(const std::filesystem::path& folder, std::string_view text);

/// True if an error event in a capture's folder asks the capture to stop the script.
bool is_capture_stopped(const std::filesystem::path& folder);

/// All events that were recorded in a capture's folder; repeated texts of a kind are kept once.
struct ScriptCaptureEvents {
  ScriptCaptureResult
      captured;       ///< Recorded launch commands in order; equal commands are not merged.
  std::string error;  ///< Message of the error that stopped the capture; empty: none.
};

/// Reads all events recorded in a capture's folder. An incomplete last line is ignored.
ScriptCaptureEvents read_capture_events(const std::filesystem::path& folder);

}  // namespace stepwright::capture
