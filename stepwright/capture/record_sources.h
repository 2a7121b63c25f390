#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/captured.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {

/// True if a text begins like a file of recorded launches, which `stepwright capture` writes.
bool is_capture_record(std::string_view text);

/// Returns recorded launches as a launch script and the text files that its commands name (taken
/// from the record, else from this machine). `command`: number of the only command to use, from 1;
/// nullopt: all. Fails with `kInput` if there is no such command, or if all are used and run on
/// different numbers of nodes or devices.
std::vector<launch_scripts::SourceFile> capture_record_as_sources(
    const ScriptCaptureResult& captured, std::optional<std::int64_t> command,
    const std::string& name);

}  // namespace stepwright::capture
