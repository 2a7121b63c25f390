#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright {
class Node;
}

namespace stepwright::capture {

/// Returns the record of a capture as JSON text ("stepwright": "launch/1"), indented by two blanks
/// a level and ended by a newline.
std::string launch_json(const CaptureResult& captured);

/// Reads a text that `launch_json` wrote. `name` is the file's name in messages. Fails with
/// `kInput` (`FILE:LINE:COLUMN: key: what is wrong (value); what is allowed`) for malformed JSON, a
/// wrong version, unknown or missing keys and values of a wrong kind.
CaptureResult read_launch(std::string_view text, const std::string& name);

/// Writes one command of the record as JSON.
nlohmann::ordered_json json_of(const CapturedCommand& command);

/// Reads one command of the record. Fails like `read_launch`.
CapturedCommand read_command(const Node& node);

}  // namespace stepwright::capture
