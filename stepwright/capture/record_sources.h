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

/// Returns what readers of launch files take for a record: one script with its commands, and the
/// text files that the commands name, as the record holds them or else as they are on this machine.
/// `command` is the number of the only command to take, from 1; nullopt: all of them. `name` stands
/// for the record in messages. Fails with `kInput` if the record has no command or none of that
/// number, and if its commands run on different numbers of nodes or devices and none is chosen.
std::vector<launch_scripts::SourceFile> record_sources(const Captured& captured,
                                                       std::optional<std::int64_t> command,
                                                       const std::string& name);

}  // namespace stepwright::capture
