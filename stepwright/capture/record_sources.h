#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/captured.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {

/// True if a text begins like a record of `stepwright capture`.
bool is_launch_record(std::string_view text);

/// Returns a record as launch files that readers understand: one script with its commands, and the
/// text files that the commands name, from the record or, if that has no text, from this machine.
/// `command` is the number of the only command to use, from 1; nullopt: all. `name` is the record's
/// name in messages.
/// Fails with `kInput` if the record has no commands, or none of that number, and if commands run
/// on different numbers of nodes or devices and none is chosen.
std::vector<launch_scripts::SourceFile> record_sources(const CaptureResult& captured,
                                                       std::optional<std::int64_t> command,
                                                       const std::string& name);

}  // namespace stepwright::capture
