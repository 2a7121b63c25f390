#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"

namespace stepwright {
class Node;
}

namespace stepwright::capture {

/// Returns the record of a capture as JSON text ("stepwright": "launch/1"), with two blanks for
/// each level and a line end.
std::string launch_json(const Captured& captured);

/// Reads the text of `launch_json`. `name` stands for the file in messages. Fails with `kInput`
/// (`FILE:LINE:COLUMN: key: what is wrong (value); what is allowed`) on malformed JSON, a wrong
/// version, unknown or missing keys and values of a wrong kind.
Captured read_launch(std::string_view text, const std::string& name);

/// Returns one command of the record.
nlohmann::ordered_json json_of(const CapturedCommand& command);

/// Reads one command of the record. Fails as `read_launch`.
CapturedCommand read_command(const Node& node);

}  // namespace stepwright::capture
