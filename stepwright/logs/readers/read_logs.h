#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stepwright/logs/files/byte_source.h"
#include "stepwright/logs/log.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::logs {

/// Reads files of any of the formats, each recognised by its content, into one log. Fails with
/// `kInput`, naming file and place, when one is damaged or of no known format.
Log read_logs(std::span<const std::string> files);

/// Reads files that stand in memory or were opened by the caller.
Log read_logs(std::span<ByteSource> files);

/// Reads traces of the PyTorch profiler alone, each in one pass that also gives its operators,
/// which `take` sees before the next file is read. Fails with `kInput` when one is no trace.
Log read_host_traces(std::span<const std::string> files,
                     const std::function<void(const KinetoTrace&)>& take);

/// Takes groups of unknown size to be of so many ranks, which tells payloads that were one rank's
/// part; a note of each file says so.
void give_group_size(Log& log, std::int64_t ranks);

}  // namespace stepwright::logs
