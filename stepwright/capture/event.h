#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

// Stand-ins record events in one file of the capture's folder, one line of JSON each. A lock on
// the file keeps the lines of several processes apart.

/// Records a launch command that the script wanted to run: appends it to the event file in
/// `folder`, the temporary folder of `stepwright capture`.
void append_captured_launch_event(const std::filesystem::path& folder,
                                  const CapturedLaunchCommand& command);

/// Kinds of recorded events that consist of one text: a launcher that ran for real ("ran"), a
/// skipped command ("not_run"), a note, an error.
inline constexpr std::string_view kLauncherRanCaptureEvent = "ran";
inline constexpr std::string_view kNotRunEvent = "not_run";
inline constexpr std::string_view kNoteEvent = "note";
inline constexpr std::string_view kErrorEvent = "error";

/// Records a text about a running script, of a kind such as `kNoteEvent`: appends it to the event
/// file in `folder`, the temporary folder of `stepwright capture`.
void append_capture_text_event(const std::filesystem::path& folder, std::string_view kind,
                               std::string_view text);

/// Records an error that makes `stepwright capture` stop its script: appends the error to the event
/// file in the temporary folder `folder`.
void append_capture_error_event(const std::filesystem::path& folder, std::string_view text);

/// True if an error was recorded in `folder`, the temporary folder of `stepwright capture`, so that
/// the script must be stopped.
bool is_capture_stopped(const std::filesystem::path& folder);

/// All events that were recorded while a launch script ran; repeated texts of a kind are kept once.
struct ScriptCaptureEvents {
  ScriptCaptureResult
      captured;       ///< Recorded launch commands in order; equal commands are not merged.
  std::string error;  ///< Message of the error that stopped the capture; empty: none.
};

/// Reads all events recorded in `folder`, the temporary folder of `stepwright capture`. An
/// incomplete last line is ignored.
ScriptCaptureEvents read_capture_events(const std::filesystem::path& folder);

}  // namespace stepwright::capture
