#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/record.h"

namespace stepwright {

/// Reads files of any of the formats, each recognised by its content, into one log. Fails with
/// `kInput`, naming file and place, when one is damaged or of no known format.
Log read_logs(std::span<const std::string> files);

/// The same of files that stand in memory or were opened by the caller.
Log read_logs(std::span<ByteSource> files);

}  // namespace stepwright
