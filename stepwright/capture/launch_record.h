#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright {
class DocumentNode;
}

namespace stepwright::capture {

/// Returns the launches recorded from a script as the JSON text of a record file ("stepwright":
/// "launch/1"), indented by two blanks a level, with a newline at the end.
std::string capture_record_json(const ScriptCaptureResult& captured);

/// Reads the JSON text of a file with the recorded launches of a script. `name`: the file's name in
/// messages. Fails with `kInput`, naming line, column and key, for malformed JSON, a wrong version,
/// unknown or missing keys and values of a wrong kind.
ScriptCaptureResult read_capture_record(std::string_view text, const std::string& name);

/// Returns one recorded launch command as JSON.
nlohmann::ordered_json captured_command_json(const CapturedLaunchCommand& command);

/// Reads one recorded launch command from JSON. Fails with `kInput` for unknown or missing keys and
/// wrong values.
CapturedLaunchCommand read_captured_command(const DocumentNode& node);

}  // namespace stepwright::capture
