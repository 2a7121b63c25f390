#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Events that stand-ins write down, one line of JSON each, into one file of the capture's folder.
/// Appends of several processes do not mix.

/// Appends a launch to the events.
void append_launch(const std::filesystem::path& folder, const CapturedCommand& command);

/// Kinds of events with a text.
inline constexpr std::string_view kRanEvent = "ran";
inline constexpr std::string_view kNotRunEvent = "not_run";
inline constexpr std::string_view kNoteEvent = "note";
inline constexpr std::string_view kErrorEvent = "error";

/// Appends a text of a kind.
void append_text(const std::filesystem::path& folder, std::string_view kind, std::string_view text);

/// Appends an error and asks the capture to stop.
void append_error(const std::filesystem::path& folder, std::string_view text);

/// True if a stand-in asked the capture to stop.
bool must_stop(const std::filesystem::path& folder);

/// All events of a capture; each text of a kind once.
struct Events {
  Captured captured;  ///< Commands as they came: none is merged with another.
  std::string error;  ///< Error of the capture; empty: none.
};

/// Reads all events of a folder. An incomplete last line is passed over.
Events read_events(const std::filesystem::path& folder);

}  // namespace stepwright::capture
